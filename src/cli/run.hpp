// SPDX-License-Identifier: Apache-2.0
// The parts of `peal run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/target.hpp"
#include "peal/engine.hpp"

namespace peal::cli {

struct RunOptions {
    TargetOptions target;
    std::string expect;
    int calls = 1;
    std::optional<std::uint64_t> seed;
    bool check = false;
    bool json = false;

    EngineOptions engine() const {
        EngineOptions options;
        options.seed = seed;
        return options;
    }
};

// Runs plans as a collective, compares each result with golden, prints a table; the exit code.
int run_compared(const Target& target, const Collective& collective, const std::vector<Plan>& plans,
                 const RunOptions& options);

// Runs a kernel whose meaning is not known and prints the beginning of its outputs.
int run_and_show(const Target& target, const std::vector<Plan>& plans, const RunOptions& options);

}  // namespace peal::cli
