// SPDX-License-Identifier: Apache-2.0
// peal show: a program as it goes down the road: as written, lowered, and as plans.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/target.hpp"
#include "peal/error.hpp"
#include "peal/program.hpp"

namespace peal::cli {
namespace {

struct ShowOptions {
    TargetOptions target;
    bool ir = false;
    bool lowered = false;
    bool plan = false;
    bool json = false;
    std::optional<int> rank;
};

// Names the recipe that was chosen for a collective.
std::string title_of(const Target& target) {
    const bool was_chosen = target.collective && target.collective->mode == "auto";
    return was_chosen ? fmt::format("algorithm {}\n", algorithm_of(target)) : "";
}

void show_plans(const Target& target, const ShowOptions& options) {
    const std::vector<Plan> plans = plans_for(target);
    const auto nranks = static_cast<int>(plans.size());
    if (options.rank && (*options.rank < 0 || *options.rank >= nranks)) {
        throw Error(Fault::usage,
                    fmt::format("--rank: expected 0..{}, found {}", nranks - 1, *options.rank));
    }
    if (!options.rank && options.json) return fmt::print("{}\n", to_json(plans));
    const Plan& plan = plans[static_cast<std::size_t>(options.rank.value_or(0))];
    fmt::print("{}\n", options.json ? to_json(plan) : title_of(target) + to_text(plan));
}

int show(const ShowOptions& options) {
    if (options.json && (options.ir || options.lowered)) {
        throw Error(Fault::usage,
                    "--json goes with --plan; --ir and --lowered print text that parses back");
    }
    const Target target = resolve(options.target);
    if (target.is_pto() && (options.ir || options.lowered)) {
        throw Error(Fault::usage, "--ir and --lowered are for programs; a PTO kernel has plans");
    }
    if (options.ir) fmt::print("{}", print(*target.program.find(target.kernel)));
    if (options.lowered) fmt::print("{}", print(*lower(target.program).find(target.kernel)));
    if (options.plan || (!options.ir && !options.lowered)) show_plans(target, options);
    return kFine;
}

}  // namespace

void add_show(CLI::App& app, int& exit_code) {
    CLI::App* command = app.add_subcommand("show", "print a program as IR, lowered, or as plans");
    auto options = std::make_shared<ShowOptions>();
    add_target_options(*command, options->target);
    add_ranks_option(*command, options->target);
    command->add_flag("--ir", options->ir, "the program before lowering");
    command->add_flag("--lowered", options->lowered,
                      "collectives expanded into notify, wait, load, store");
    command->add_flag("--plan", options->plan, "the instructions of one rank (default)");
    command->add_option("--rank", options->rank, "whose plan (default 0; with --json: all ranks)");
    command->add_flag("--json", options->json, "the plan as JSON");
    command->footer(
        "Examples:\n"
        "  peal show allreduce --algo ring --lowered\n"
        "  peal show allreduce --algo mesh -n 4 --plan --rank 2\n"
        "  peal show examples/mesh_allreduce.peal --ir\n"
        "  peal show examples/pto/allreduce_ring.cpp --as allreduce -n 4 --plan --rank 2");
    command->callback([options, &exit_code] { exit_code = show(*options); });
}

}  // namespace peal::cli
