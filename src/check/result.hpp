// SPDX-License-Identifier: Apache-2.0
// Compares what a call left in its outputs with what the collective means.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "check/finding.hpp"
#include "check/memory.hpp"
#include "check/term.hpp"

namespace peal::checker {

class ResultCheck {
public:
    ResultCheck(const Model& model, TermTable& terms) : model_(model), terms_(terms) {}

    // `event` is the caller's consuming of the outputs.
    void check(Event event, const SymbolicMemory& memory, Findings& findings);

private:
    // Part of an output. Offsets, and what it holds, are seen from the start of the output.
    struct Part {
        Event event;
        const Expected* output;
        std::uint64_t begin, end;
        Content content;
        bool is_written = true;
    };
    struct Seen {
        Content content;
        Content order;  // what of it is compared
        Event event;
        bool operator==(const Seen&) const = default;
    };

    void check_output(Event event, const Expected& output, const RegionContents& contents,
                      Findings& findings);
    void check_part(const Part& part, Findings& findings);
    bool is_right(const Part& part);
    bool is_combination(const Part& part);
    void check_same_bits(const Part& part, Findings& findings);
    std::vector<Leaf> expected_leaves(const Part& part);
    Content expected_term(const Part& part);
    std::string difference(const Part& part);
    // A finding about the contents of the part.
    Finding finding_at(const Part& part, ViolationKind kind, std::vector<Event> events) const;
    const Meaning& meaning(const Part& part) const;

    const Model& model_;
    TermTable& terms_;
    // What was found right: term and shift, contributions, op, element, reduces, call.
    using Known =
        std::tuple<TermId, std::int64_t, const void*, ReduceOp, Element, bool, std::uint32_t>;
    std::set<Known> right_;
    std::vector<Piece> pieces_;  // of the output that is being checked
    std::map<std::pair<std::uint32_t, const void*>, plan::IntervalMap<Seen>> seen_;
};

}  // namespace peal::checker
