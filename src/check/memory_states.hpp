// SPDX-License-Identifier: Apache-2.0
// Contents of all memory as numbers: equal contents have equal numbers, and what a segment makes of
// a number is worked out once.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "check/memory.hpp"
#include "check/meter.hpp"
#include "check/result.hpp"
#include "check/signal_program.hpp"

namespace peal::checker {

class MemoryStates {
public:
    MemoryStates(const Model& model, const SignalProgram& program, Meter& meter);

    static constexpr std::uint32_t kInitial = 0;

    // The contents after the segment. What goes wrong is added to `findings`.
    std::uint32_t after(std::uint32_t memory, std::uint32_t segment, Findings& findings);

    std::uint64_t memory_bytes() const { return bytes_ + terms_.memory_bytes(); }

private:
    struct Hash {
        std::size_t operator()(const RegionContents& contents) const;
        std::size_t operator()(const std::vector<std::uint32_t>& memory) const;
    };

    std::uint32_t run(std::uint32_t memory, const Segment& segment, Findings& findings);
    std::uint32_t intern(RegionContents contents);
    std::uint32_t intern(std::vector<std::uint32_t> memory);

    const Model& model_;
    const SignalProgram& program_;
    Meter& meter_;
    TermTable terms_;
    SymbolicMemory scratch_;
    ResultCheck result_;
    // Keys of the maps stay where they are, so the lists may point at them.
    std::unordered_map<RegionContents, std::uint32_t, Hash> contents_ids_;
    std::vector<const RegionContents*> contents_;
    std::unordered_map<std::vector<std::uint32_t>, std::uint32_t, Hash> memory_ids_;
    std::vector<const std::vector<std::uint32_t>*> memories_;
    std::unordered_map<std::uint64_t, std::uint32_t> after_;  // memory and segment
    std::uint64_t bytes_ = 0;
};

}  // namespace peal::checker
