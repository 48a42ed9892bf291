// SPDX-License-Identifier: Apache-2.0
// Memory with symbolic contents: carries out data ops on terms instead of numbers.
#pragma once

#include <vector>

#include "check/finding.hpp"
#include "check/interval_map.hpp"
#include "check/term.hpp"

namespace peal::checker {

using RegionContents = IntervalMap<Content>;

class SymbolicMemory {
public:
    // Every region is unwritten.
    SymbolicMemory(const Model& model, TermTable& terms);

    RegionContents& region(RegionId id) { return regions_[id]; }
    const RegionContents& region(RegionId id) const { return regions_[id]; }

    // Reports reads of bytes that nobody wrote.
    void execute(Event event, Findings& findings);

private:
    struct Piece {
        std::uint64_t begin, end;  // offsets in the destination
        Content content;
    };

    void stage(const Op& op, std::int32_t rank);
    void copy(const Copy& copy);
    void reduce(const Reduce& reduce);
    void map(const Map& map);

    // What `source` holds, seen from the offsets of the destination.
    void read(const Range& source, std::uint64_t destination, std::vector<Piece>& pieces);
    void write(const Range& destination, const std::vector<Piece>& pieces);
    void report_unwritten(const Range& source, std::uint64_t begin, std::uint64_t end);
    void fold_in(const Reduce& reduce, const std::vector<Piece>& operand);
    RegionId region_of(const Range& range) const;

    const Model& model_;
    TermTable& terms_;
    std::vector<RegionContents> regions_;

    // Of the op that is being carried out.
    Event event_;
    Findings* findings_ = nullptr;
    bool reported_ = false;
    std::vector<Piece> result_, operand_, merged_;
};

}  // namespace peal::checker
