// SPDX-License-Identifier: Apache-2.0
// Random tiny programs, most of them right and some of them spoilt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peal/check.hpp"

namespace peal::test {

struct RandomStage {
    std::vector<Plan> plans;
    Meaning meaning;
    bool has_meaning = false;
    std::vector<std::string> memory;
    std::vector<Held> holds;
};

struct RandomProgram {
    std::vector<RandomStage> stages;
    int calls = 1;
    MemoryOrder order = MemoryOrder::drained;

    std::vector<CheckStage> list() const;
};
std::string listing(const RandomProgram& program);

enum class Sort : std::uint8_t {
    monotone,   // signals that only grow: what the linear method is for
    signals,    // signals that do anything
    crowds,     // many who add to one cell
    pipes,      // the units of a tile processor, flags between them
    fences,     // the same, where stores are visible after a fence
    deferred,   // work that is complete by a fence, or goes through a cache
    gathers,    // additions that meet in one window
    elements,   // numbers of several bytes that are moved in parts, combined and mapped
    sequences,  // different calls that share memory
    lanes,      // ranks that do several things at once
    rounds,     // what shows after several calls only
    held,       // windows that hold something when a call begins
    turns,      // the same as rounds, in places that change from call to call
};
inline constexpr Sort kSorts[] = {Sort::monotone,  Sort::signals,  Sort::crowds,  Sort::pipes,
                                  Sort::fences,    Sort::deferred, Sort::gathers, Sort::elements,
                                  Sort::sequences, Sort::lanes,    Sort::rounds,  Sort::held,
                                  Sort::turns};
std::string name(Sort sort);

// The same program for the same seed.
RandomProgram random_program(Sort sort, std::uint64_t seed);

RandomProgram random_signals(std::uint64_t seed, bool monotone);
RandomProgram random_crowd(std::uint64_t seed);
RandomProgram random_pipes(std::uint64_t seed, MemoryOrder order);
RandomProgram random_deferred(std::uint64_t seed);
RandomProgram random_gathers(std::uint64_t seed);
RandomProgram random_elements(std::uint64_t seed);
RandomProgram random_sequence(std::uint64_t seed);
RandomProgram random_lanes(std::uint64_t seed);
RandomProgram random_rounds(std::uint64_t seed);
RandomProgram random_held(std::uint64_t seed);
RandomProgram random_turns(std::uint64_t seed);

}  // namespace peal::test
