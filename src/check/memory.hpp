// SPDX-License-Identifier: Apache-2.0
// Memory with symbolic contents: carries out data ops on terms instead of numbers.
#pragma once

#include <string_view>
#include <vector>

#include "check/elements.hpp"
#include "check/finding.hpp"
#include "check/term.hpp"
#include "plan/interval_map.hpp"

namespace peal::checker {

using RegionContents = plan::IntervalMap<Content>;

class SymbolicMemory {
public:
    // Every region is unwritten, but for windows that hold the zeros that they were made with.
    SymbolicMemory(const Model& model, TermTable& terms);

    RegionContents& region(RegionId id) { return regions_[id]; }
    const RegionContents& region(RegionId id) const { return regions_[id]; }

    std::uint64_t memory_bytes() const;

    // What the windows hold, by region, neighbours that hold the same as one.
    std::vector<std::pair<RegionId, std::vector<Piece>>> windows() const;

    // Reports reads of bytes that nobody wrote.
    void execute(Event event, Findings& findings);

private:
    void clear(std::uint32_t stage, std::string_view window);
    Content zeros();
    void stage(const Op& op, std::int32_t rank);
    void copy(const Copy& copy);
    void reduce(const Reduce& reduce);
    void accumulate(const Accumulate& accumulate);
    void map(const Map& map);
    void convert(const Map& map);
    void sum_row(const Map& map);

    // What `source` holds, seen from the offsets of the destination.
    void read(const Range& source, std::uint64_t destination, std::vector<Piece>& pieces,
              bool must_be_written = true);
    // The same in pieces of whole elements: one with several contents is a content of its own.
    void read_elements(const Range& source, Element element, std::uint64_t destination,
                       std::vector<Piece>& pieces, bool must_be_written = true);
    // What is in merged_, in pieces of whole elements from `destination` on.
    void split_elements(Element element, std::uint64_t destination, std::vector<Piece>& pieces);
    void write(const Range& destination, const std::vector<Piece>& pieces);
    std::int32_t source_at(const Range& source) const;
    void report_unwritten(const Range& source, std::uint64_t begin, std::uint64_t end);
    // result_ = merge(result_, operand_) piece by piece, where both cover the same bytes.
    template <class Merge>
    void merge(Merge&& merge);
    RegionId region_of(const Range& range) const;

    const Model& model_;
    TermTable& terms_;
    std::vector<RegionContents> regions_;

    // Of the op that is being carried out.
    Event event_;
    Findings* findings_ = nullptr;
    bool reported_ = false;
    std::vector<Piece> result_, operand_, merged_;  // offsets in the destination
};

}  // namespace peal::checker
