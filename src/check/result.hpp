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
    // The content is seen from the start of the output.
    struct Piece {
        Event event;
        const Expected* output;
        std::uint64_t begin, end;  // in the output's buffer
        Content content;
    };
    struct Seen {
        Content content;
        Event event;
        bool operator==(const Seen&) const = default;
    };

    void check_piece(const Piece& piece, Findings& findings);
    bool is_right(const Piece& piece);
    void check_same_bits(const Piece& piece, Findings& findings);
    std::vector<Leaf> expected_leaves(const Piece& piece);
    Content expected_chain(const Piece& piece);
    std::string text_of_expected(const Piece& piece);
    std::string difference(const Piece& piece);
    // A finding about the contents of the piece.
    Finding finding_at(const Piece& piece, ViolationKind kind, std::vector<Event> events) const;
    const Meaning& meaning(const Piece& piece) const;

    const Model& model_;
    TermTable& terms_;
    std::set<std::tuple<TermId, std::int64_t, const void*, std::uint32_t>> right_;
    std::map<std::pair<std::uint32_t, const void*>, IntervalMap<Seen>> seen_;
};

}  // namespace peal::checker
