// SPDX-License-Identifier: Apache-2.0
// What a command works on: a built-in collective, a kernel of a .peal file or a PTO kernel in C++,
// and the options that make plans of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"
#include "foreign/foreign.hpp"
#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/pto.hpp"

namespace peal::cli {

inline constexpr int kDefaultRanks = 4;

struct TargetOptions {
    std::string target;
    // What is at hand instead: a program, of which `target` names a kernel, or plans.
    std::shared_ptr<const ir::Program> program;
    std::shared_ptr<const std::vector<Plan>> plans;
    std::optional<int> ranks;
    std::string recipe = "auto";
    std::string hosts;  // of recipes that know them: "3+5" ranks on each, or "0,1,0,1" of each rank
    std::uint64_t count = 256;
    bool count_given = false;
    std::string element = "f32";
    std::string op;  // empty: sum
    int root = 0;
    std::optional<int> lanes;  // if not said, 1, or what the recipe of a collective is for
    bool root_given = false;
    std::vector<std::string> settings;  // name=value
    std::string platform = "host";
    std::optional<std::string> devices;
    Placement placement = Placement::separate;
    std::vector<std::string> holds;  // window, or window=zeros, of a kernel or a file of plans
    std::string result;              // the buffer that it leaves its result in
    std::string device;  // host, a2a3, a5; empty: what the target and the platform ask for
    bool outstanding_loads = false;  // no word about them
    bool strict_loads = false;       // they are errors, not warnings

    // PTO kernels only.
    std::vector<std::string> arguments;  // --arg
    std::string as;                      // --as
    pto::KernelOptions compiler;
    double trace_seconds = 10;
    int blocks = 1;
    int calls = 3;  // in a row on the same windows, that its plans are for

    int slots = 2;  // MSCCL only: messages that a connection holds
};

// A file of plans, once it is known to be no other project's.
bool is_plan_file(const std::string& target);
std::vector<Plan> read_plans(const std::string& path);

// How people call it: the name of a collective, of a file, or of a program's text.
std::string title_of(const TargetOptions& options);

// Everything but -n, which some commands take as a range. Returns the target, which may be left
// out unless it is said to be required.
Option* add_target_options(Command& command, TargetOptions& options);
void add_ranks_option(Command& command, TargetOptions& options);

// The host of each rank that --hosts says; empty: it was not given. Throws Error(usage).
std::vector<std::int64_t> hosts_of(const TargetOptions& options);

// The number of ranks that -n, -d and --hosts ask for together.
int rank_count(const TargetOptions& options);

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

// The limits that plans of this target are held to. Throws Error(usage) when there is no such
// device, or when it is not the platform's.
DeviceRules device_rules(const TargetOptions& options);

// The collective of that name with these options; `settings` may hold counts.
Collective collective_for(CollectiveKind kind, const TargetOptions& options, int nranks);

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

// "name=value" of --set, and an integer in it.
std::pair<std::string, std::string> split_setting(const std::string& setting);
std::int64_t integer_setting(const std::string& name, const std::string& text);

// Throws Error(usage): the command line asks for something that cannot be.
[[noreturn]] void bad_usage(const std::string& message);

}  // namespace peal::cli
