// SPDX-License-Identifier: Apache-2.0
// Tasks that are proved together: all of a run that use windows, in the order of each chip; or one
// that uses none.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/member.hpp"
#include "peal/check.hpp"
#include "peal/worker_kernel.hpp"

namespace peal::driver {

// One task of each chip at most, all of one program.
struct Stage {
    std::vector<const Member*> members;  // by rank of the plans; null: that rank does nothing
    // All ranks of the run have ended the stage before when one begins this one.
    bool meets = false;
};

// Distributes the members of a run that use windows: each comes after its chip's earlier ones.
// `nodes_after[n]` are the submitted tasks that task n waits for.
std::vector<Stage> stages_of(const std::vector<const Member*>& members, int chips,
                             const std::vector<std::vector<std::size_t>>& nodes_after);

// What two lists of stages must have in common to have the same plans and proof.
std::string key_of(const std::vector<Stage>& stages);

struct PreparedStage {
    std::vector<Plan> plans;
    DeviceKernel kernel;
    std::vector<std::size_t> memory_of;  // of each buffer of the plans
    // Bytes of the memories that its shims create, by rank of the plans. They come behind those of
    // the members.
    std::vector<std::vector<std::uint64_t>> created;
};

// The domain that a buffer of the plans is a window of; null: it is none.
const LiveDomain* domain_of(const Stage& stage, const PreparedStage& prepared, std::size_t buffer);
// Who is in a stage; some rank is.
const Member& anybody(const Stage& stage);

// A word of a window that a stage uses as a signal.
struct SignalWord {
    std::size_t stage = 0;
    std::uint16_t buffer = 0;  // of its plans
    int chip = 0;
    std::uint64_t word = 0;

    auto operator<=>(const SignalWord&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Stages as they are carried out, and what is known of them.
struct Unit {
    std::vector<PreparedStage> stages;
    std::vector<SignalWord> signals;  // of all stages, each once
    CheckReport report;
    bool is_checked = false;
    std::string name;     // of its programs
    std::string finding;  // what is wrong, in words, and where the page is; empty: nothing
    std::vector<std::shared_ptr<const pto::ChipProgram>> programs;  // that a key speaks of
};

struct ProveOptions {
    DeviceRules device;
    double max_seconds = 60;
    std::string pages;
    bool check = true;
};

// Traces and proves. Throws Error(program) for what cannot be traced.
std::shared_ptr<const Unit> prepare(const std::vector<Stage>& stages, const ProveOptions& options);

std::vector<SignalWord> signals_of(const std::vector<PreparedStage>& stages);
// A proof begins with signals that are zero. Throws Error(usage) if the program has written to one
// of a domain that nobody has used yet.
void expect_zeroed(const std::vector<Stage>& stages, const Unit& unit);

}  // namespace peal::driver
