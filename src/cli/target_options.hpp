// SPDX-License-Identifier: Apache-2.0
// The options that say what a command works on, and what they mean by themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"
#include "peal/bindings.hpp"
#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/ir.hpp"
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

// The collective of that name with these options; `settings` may hold counts.
Collective collective_for(CollectiveKind kind, const TargetOptions& options, int nranks);

// What --set, --count, --root and --hosts say of a kernel. Throws Error(usage).
Bindings bindings_for(const ir::Kernel& kernel, const TargetOptions& options);

// What --holds says: "data" or "data=zeros". Throws Error(usage).
std::vector<Held> held_windows(const std::vector<std::string>& texts);

// "name=value" of --set, and an integer in it.
std::pair<std::string, std::string> split_setting(const std::string& setting);
std::int64_t integer_setting(const std::string& name, const std::string& text);

// Throws Error(usage): the command line asks for something that cannot be.
[[noreturn]] void bad_usage(const std::string& message);

}  // namespace peal::cli
