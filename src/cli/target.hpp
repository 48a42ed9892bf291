// SPDX-License-Identifier: Apache-2.0
// What a command works on: a built-in collective, a kernel of a .peal file or a PTO kernel in C++.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/target_options.hpp"
#include "foreign/foreign.hpp"
#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"

namespace peal::cli {

// A file of plans, once it is known to be no other project's.
bool is_plan_file(const std::string& target);
std::vector<Plan> read_plans(const std::string& path);

struct Target {
    std::optional<Collective> collective;  // a built-in
    std::string kernel;
    int nranks = 0;
    int lanes = 1;

    // A built-in, or a kernel of a .peal file.
    ir::Program program;
    Bindings bindings;

    std::vector<Plan> plans;  // those of a file, or at hand

    // A PTO kernel: the plans that it was traced into, and what --as says that they compute.
    std::vector<Plan> traced;
    std::optional<Collective> said_to_be;
    bool is_pto() const { return !traced.empty(); }

    std::optional<foreign::ForeignPlans> foreign;  // a plan of another project

    // Of a kernel or a file of plans: its windows that hold something when a call begins, and where
    // its result is, if that is said.
    std::vector<Held> holds;
    std::string result;

    // Where input and result of the collective are in the plans.
    Ports ports(const Collective& as, const std::vector<Plan>& plans) const;
};

// What --holds and --result say of a target. Throws Error(usage).
void put_held(Target& target, const TargetOptions& options);

// Reads and parses, or compiles and traces, what is named; `expect` is what it is held to. Warnings
// about a .peal file go to stderr. Throws Error.
Target load_target(const TargetOptions& options, const std::string& expect = {});

// The recipe of a built-in collective: "ring", or "auto: mesh" where the table of recipes chose it;
// "-" for kernels.
std::string recipe_of(const Target& target);

// The collective that `option` names. Throws Error(usage), which lists them.
CollectiveKind expected_kind(std::string_view option, const std::string& expected);

// The collective that a kernel is said to compute by --expect or --as, whichever `option` is, sized
// by the kernel's own buffers. Throws Error(usage) when it has no fitting input and output.
Collective expected_collective(std::string_view option, const std::string& expected,
                               const TargetOptions& options, const Target& target,
                               const std::vector<Plan>& plans);

// What the target must compute: a collective itself, a kernel what --as or --expect says, if they
// say anything.
std::optional<Collective> collective_of(const Target& target, const TargetOptions& options,
                                        const std::string& expect, const std::vector<Plan>& plans);

// What the plans are for, if that is known: of plans of another project what their file adds to it.
std::optional<Meaning> meaning_for(const Target& target,
                                   const std::optional<Collective>& collective,
                                   const std::vector<Plan>& plans);

// With as many lanes as the target has.
std::vector<Plan> plans_for(const Target& target, CompileOptions options = {});

}  // namespace peal::cli
