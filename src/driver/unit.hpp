// SPDX-License-Identifier: Apache-2.0
// Tasks that are proved together: all of a run that use windows, in the order of each chip; or one
// that uses none.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "driver/resolve.hpp"
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
};

// Stages as they are carried out, and what is known of them.
struct Unit {
    std::vector<PreparedStage> stages;
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

}  // namespace peal::driver
