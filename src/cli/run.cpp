// SPDX-License-Identifier: Apache-2.0
// peal run: carry out a collective or a kernel in process.
#include "cli/run.hpp"

#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

int run(const RunOptions& options) {
    if (options.calls < 1) {
        throw Error(Fault::usage,
                    fmt::format("--calls: expected at least 1, found {}", options.calls));
    }
    const Target target = resolve(options.target);
    if (target.collective && !options.expect.empty()) {
        throw Error(Fault::usage,
                    "--expect is for .peal kernels; a collective knows its own result");
    }
    const std::vector<Plan> plans = plans_for(target);
    if (target.collective) return run_compared(target, *target.collective, plans, options);
    if (options.expect.empty()) return run_and_show(target, plans, options);
    const Collective collective =
        expected_collective(options.expect, options.target, target, plans);
    return run_compared(target, collective, plans, options);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
    CLI::App* command =
        app.add_subcommand("run", "carry out a collective or kernel and compare with golden");
    auto options = std::make_shared<RunOptions>();
    add_target_options(*command, options->target);
    add_ranks_option(*command, options->target);
    command->add_option("--expect", options->expect,
                        "the collective that a .peal kernel should compute");
    command->add_option("--calls", options->calls,
                        "calls in a row on the same windows (default 1)");
    command->add_option("--seed", options->seed,
                        "a random interleaving, the same one for the same seed");
    command->add_flag("--check", options->check,
                      "prove the plans first, however large; run them only if they prove");
    command->add_flag("--json", options->json, "the result as JSON");
    command->footer(
        "Exit codes: 0 fine, 1 wrong result or deadlock, 2 bad usage or bad program,\n"
        "3 not proved within the bound (--check).\n"
        "Examples:\n"
        "  peal run allreduce --algo ring -n 4 --count 256\n"
        "  peal run allreduce -p a2a3sim -d 0-3\n"
        "  peal run examples/mesh_allreduce.peal -n 4 --set n=1000 --expect allreduce --calls 3");
    command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace peal::cli
