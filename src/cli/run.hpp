// SPDX-License-Identifier: Apache-2.0
// The parts of `peal run`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/proof.hpp"
#include "cli/target.hpp"
#include "golden/rehearse.hpp"
#include "peal/engine.hpp"
#include "peal/worker.hpp"

namespace peal::cli {

struct RunOptions {
    TargetOptions target;
    std::string expect;
    int calls = 1;
    std::optional<std::uint64_t> seed;
    bool check = false;
    std::string order = "both";  // that the proof is about
    bool json = false;
    bool processes = false;
    double timeout_seconds = 10;  // processes
    bool timings = false;         // worker
    std::string trace;            // worker: a file

    // On a platform with devices, they carry it out.
    bool by_worker() const { return target.platform != "host"; }

    std::chrono::milliseconds timeout() const {
        return std::chrono::ceil<std::chrono::milliseconds>(
            std::chrono::duration<double>(timeout_seconds));
    }
    EngineOptions engine() const {
        EngineOptions options;
        options.seed = seed;
        return options;
    }
};

// The options that say what is run; those that say what is shown are the command's.
void add_carry_options(Command& command, RunOptions& options);

// A target that is ready to be run.
struct ReadyRun {
    Target target;
    std::optional<Collective> collective;  // that it computes, if that is known
    std::vector<Plan> plans;  // of this machine (plan/for_host.hpp); none if it is refused
    Proof proof;

    // It is to be run only if it is proved, and is not.
    bool is_refused(const RunOptions& options) const {
        return options.check && proof.exit_code != kFine;
    }
};
// Throws Error(usage) for options that cannot be.
ReadyRun make_ready(const RunOptions& options);

// Private buffers that the kernel reads, or those that it writes.
bool is_argument(const Buffer& buffer, Direction direction);
// Numbers in all that it reads.
void fill_inputs(const Plan& plan, const golden::RankMemory& memory);

// The work of a run, and before each call what the windows of the target hold then, but for the
// buffer that the work itself puts input in. Refers to the plans.
golden::RankWork with_held(golden::RankWork work, const std::vector<Plan>& plans,
                           const std::vector<Held>& holds, std::optional<std::uint16_t> but = {});

// The work of a run that is compared with the collective. Refers to the plans.
golden::RankWork compared_work(const Target& target, const Collective& collective,
                               const std::vector<Plan>& plans, const RunOptions& options);

// Numbers that tell elements and ranks apart, in all of buffer b.
void fill_with_numbers(const Plan& plan, std::size_t b, const golden::RankMemory& memory);

// Runs plans of this machine (plan/for_host.hpp) as a collective, compares each result with golden,
// prints a table; the exit code.
int run_compared(const Target& target, const Collective& collective, const std::vector<Plan>& plans,
                 const Proof& proof, const RunOptions& options);

// Runs a kernel whose meaning is not known and prints the beginning of its outputs.
int run_and_show(const Target& target, const std::vector<Plan>& plans, const Proof& proof,
                 const RunOptions& options);

}  // namespace peal::cli
