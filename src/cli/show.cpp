// SPDX-License-Identifier: Apache-2.0
// peal show: a program as it goes down the road: as written, after each pass, lowered, and as
// plans.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/line_diff.hpp"
#include "cli/target.hpp"
#include "passes/pipeline.hpp"
#include "peal/error.hpp"
#include "peal/program.hpp"

namespace peal::cli {
namespace {

struct ShowOptions {
    TargetOptions target;
    bool ir = false;
    bool lowered = false;
    std::string after;  // a pass
    bool passes = false;
    bool plan = false;
    bool json = false;
    std::optional<int> rank;

    bool as_text() const { return ir || lowered || passes || !after.empty(); }
};

// Names the recipe that was chosen for a collective.
std::string title_of(const Target& target) {
    const bool was_chosen = target.collective && target.collective->recipe == "auto";
    return was_chosen ? fmt::format("recipe {}\n", recipe_of(target)) : "";
}

void require_pass(const std::string& wanted) {
    std::vector<std::string_view> names;
    for (const passes::Pass& pass : passes::pipeline()) names.push_back(pass.name);
    if (std::find(names.begin(), names.end(), wanted) != names.end()) return;
    throw Error(Fault::usage, fmt::format("--after: there is no pass '{}'; the passes are {}",
                                          wanted, fmt::join(names, ", ")));
}

std::string kernel_text(const Target& target, const ir::Program& program) {
    return print(*program.find(target.kernel));
}

void show_after(const Target& target, const std::string& wanted) {
    ir::Program program = target.program;
    for (const passes::Pass& pass : passes::pipeline()) {
        program = apply(pass, program);
        if (pass.name == wanted) break;
    }
    fmt::print("{}", kernel_text(target, program));
}

// The kernel as written, then what each pass makes of the text before it.
void show_passes(const Target& target) {
    ir::Program program = target.program;
    std::string text = kernel_text(target, program);
    fmt::print("# as written\n{}", text);
    for (const passes::Pass& pass : passes::pipeline()) {
        program = apply(pass, program);
        const std::string next = kernel_text(target, program);
        fmt::print("\n# {}{}\n", pass.name, next == text ? ": nothing changes" : "");
        if (next != text) fmt::print("{}", line_diff(text, next));
        text = next;
    }
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
    if (options.json && options.as_text()) {
        throw Error(Fault::usage,
                    "--json goes with --plan; --ir, --lowered, --after and --passes print text");
    }
    if (!options.after.empty()) require_pass(options.after);
    const Target target = load_target(options.target);
    if ((target.is_pto() || target.foreign || !target.plans.empty()) && options.as_text()) {
        throw Error(Fault::usage,
                    fmt::format("--ir, --lowered, --after and --passes are for programs; a {} has "
                                "plans",
                                target.is_pto()  ? "PTO kernel"
                                : target.foreign ? "file of another project"
                                                 : "file of plans"));
    }
    if (options.ir) fmt::print("{}", kernel_text(target, target.program));
    if (!options.after.empty()) show_after(target, options.after);
    if (options.passes) show_passes(target);
    if (options.lowered) fmt::print("{}", kernel_text(target, lower(target.program)));
    if (options.plan || !options.as_text()) show_plans(target, options);
    return kFine;
}

}  // namespace

void add_show(CommandLine& line) {
    Command* command = line.add_subcommand("show", "print a program as IR, lowered, or as plans");
    auto options = std::make_shared<ShowOptions>();
    add_target_options(*command, options->target)->required();
    add_ranks_option(*command, options->target);
    command->add_flag("--ir", options->ir, "the program before lowering");
    command->add_flag("--lowered", options->lowered,
                      "collectives expanded into notify, wait, load, store");
    command->add_option("--after", options->after, "the program after this pass of the lowering");
    command->add_flag("--passes", options->passes,
                      "the program before lowering, and what each pass changes in it");
    command->add_flag("--plan", options->plan, "the instructions of one rank (default)");
    command->add_option("--rank", options->rank, "whose plan (default 0; with --json: all ranks)");
    command->add_flag("--json", options->json, "the plan as JSON");
    command->footer(
        "Examples:\n"
        "  peal show allreduce --recipe ring --lowered\n"
        "  peal show allreduce --recipe ring --after LowerCompositeOps\n"
        "  peal show allreduce --recipe ring --passes\n"
        "  peal show allreduce --recipe mesh -n 4 --plan --rank 2\n"
        "  peal show examples/mesh_allreduce.peal --ir\n"
        "  peal show examples/pto/allreduce_ring.cpp --as allreduce -n 4 --plan --rank 2");
    command->callback([options] { return show(*options); });
}

}  // namespace peal::cli
