// SPDX-License-Identifier: Apache-2.0
// Where ranks stand, and who waits for whom: the one report of deadlocks, timeouts and deaths, for
// all engines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core.hpp"
#include "peal/plan.hpp"

namespace peal::engine {

// A rank in the middle of a plan, or about to begin it.
struct Standing {
    const Plan* plan = nullptr;
    std::span<const BoundBuffer> memory = {};  // of the plan's buffers
    std::size_t position = 0;                  // of the next instruction, in its lane
    std::size_t lane = 0;
    std::string title = {};     // "rank 1", "task 2 'right' on rank 1"
    std::string progress = {};  // "not begun"; empty: "now at N", or "finished"

    bool is_done() const { return position == plan->lane_end(lane); }
};

// Of the lane at hand.
Standing standing_of(const Core& core);

// "lane 2  ", or nothing of a plan that has only one.
std::string lane_note(const Plan& plan, std::size_t lane);

// `   (mesh.peal:6: "wait sig[0] >= 1")`, or nothing when the source is not known.
std::string source_note(const Plan& plan, const Instruction& instruction);

// The next instruction with the value that this run's generations give it, and its source line:
// `instruction 5  wait sig[1] >= 1   (mesh.peal:6: "wait sig[peer] >= 1")`; with several lanes
// `lane 2  instruction 5  ...`.
std::string instruction_note(const Standing& standing);

// Whether the next instruction is a wait that cannot pass now, or a flag that nobody set.
bool is_stuck(const Standing& standing);

// What the wait that the rank stands at sees, and who is to ring its cell:
// `sees 0; still to ring it: rank 1 at instruction 7 (now at 3)`. `all` are those who may; if
// nobody is known, it says what is seen and no more.
std::string reason_note(const Standing& standing, const std::vector<Standing>& all);

// The same of a run of which only the plans are known, and not where their ranks stand: `rung by
// rank 1 at instruction 7`, or `nobody rings it`. `rank_name` names the rank of a plan.
class PlannedRingers {
public:
    explicit PlannedRingers(const Cell& cell) : cell_(cell) {}

    void add(const Plan& plan, const std::string& rank_name);
    std::string text() const;

private:
    Cell cell_;
    std::vector<std::string> places_;
};

inline constexpr std::string_view kDeadlock = "deadlock: no rank can go on";

// For ranks none of which can go on, in rank order:
//
//   deadlock: no rank can go on
//     rank 0  instruction 5  wait sig[1] >= 1   (mesh.peal:6: "wait sig[peer] >= 1")
//             sees 0; still to ring it: rank 1 at instruction 7 (now at 3)
//     rank 1  instruction 3  ...
//     rank 2  finished
class StandingReport {
public:
    explicit StandingReport(std::string headline, std::size_t nranks)
        : text_(std::move(headline)), width_(std::to_string(nranks - 1).size()) {}

    // Ranks come in order, and lanes of a rank. `doing` is a task or call, if there may be several.
    void add(int rank, const std::string& doing, const Standing& standing,
             const std::vector<Standing>& all);
    void add(int rank, const std::string& state);

    std::string text() && { return std::move(text_); }

private:
    std::string text_;
    std::size_t width_;
};

}  // namespace peal::engine
