// SPDX-License-Identifier: Apache-2.0
// What a command works on: a built-in collective or a kernel of a .peal file, and the options that
// make plans of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "peal/collective.hpp"
#include "peal/compile.hpp"

namespace CLI {
class App;
}

namespace peal::cli {

struct TargetOptions {
    std::string target;
    std::optional<int> ranks;
    std::string algorithm = "auto";
    std::uint64_t count = 256;
    bool count_given = false;
    std::string element = "f32";
    std::string op = "sum";
    int root = 0;
    std::vector<std::string> settings;  // name=value
    std::string platform = "host";
    std::string devices;
    Placement placement = Placement::separate;
};

// Everything but -n, which some commands take as a range.
void add_target_options(CLI::App& command, TargetOptions& options);
void add_ranks_option(CLI::App& command, TargetOptions& options);

// The number of ranks that -n and -d ask for together.
int rank_count(const TargetOptions& options);

struct Target {
    std::optional<Collective> collective;  // a built-in
    ir::Program program;
    std::string kernel;
    Bindings bindings;
    int nranks = 0;
};

// Reads and parses what is named. Warnings about a .peal file go to stderr. Throws Error.
Target resolve(const TargetOptions& options);

// The collective of that name with these options; `settings` may hold counts.
Collective collective_for(CollectiveKind kind, const TargetOptions& options, int nranks);

// The collective that a .peal kernel is said to compute (--expect), sized by the kernel's own
// buffers. Throws Error(usage) when the kernel has no fitting input and output.
Collective expected_collective(const std::string& expected, const TargetOptions& options,
                               const Target& target, const std::vector<Plan>& plans);

std::vector<Plan> plans_for(const Target& target);

}  // namespace peal::cli
