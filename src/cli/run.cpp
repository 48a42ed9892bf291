// SPDX-License-Identifier: Apache-2.0
// peal run: carry out a collective or a kernel: in process, in processes, or by a worker's devices.
#include "cli/run.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/devices.hpp"
#include "cli/proof.hpp"
#include "cli/target.hpp"
#include "peal/error.hpp"
#include "plan/for_host.hpp"
#include "worker/devices.hpp"

namespace peal::cli {
namespace {

constexpr double kMaxTimeoutSeconds = 1e6;
constexpr int kProvedCalls = 3;

// Nothing: both, where they differ.
std::optional<MemoryOrder> order_of(const std::string& text) {
    if (text == "both") return std::nullopt;
    for (const MemoryOrder order : {MemoryOrder::drained, MemoryOrder::fenced}) {
        if (name(order) == text) return order;
    }
    throw Error(Fault::usage,
                fmt::format("--order: expected drained, fenced or both, found '{}'", text));
}

void check_options(const RunOptions& options) {
    if (options.calls < 1) {
        throw Error(Fault::usage,
                    fmt::format("--calls: expected at least 1, found {}", options.calls));
    }
    if (!(options.timeout_seconds > 0 && options.timeout_seconds < kMaxTimeoutSeconds)) {
        throw Error(Fault::usage, fmt::format("--timeout: expected more than 0 seconds, found {}",
                                              options.timeout_seconds));
    }
    if (options.processes && options.seed) {
        throw Error(Fault::usage,
                    "--seed chooses an interleaving in one process; leave out --processes");
    }
    worker::check_platform(options.target.platform);
    if (options.by_worker() && (options.processes || options.seed)) {
        throw Error(Fault::usage,
                    fmt::format("-p {} runs on devices; leave out --processes and --seed",
                                options.target.platform));
    }
    if (!options.by_worker() && (options.timings || !options.trace.empty())) {
        throw Error(Fault::usage,
                    "--timings and --trace are about devices: choose some with -p a2a3sim -d 0-3");
    }
}

int run(const RunOptions& options) {
    const ReadyRun ready = make_ready(options);
    if (ready.is_refused(options)) {
        fmt::print(stderr, "peal: not run: {}\n", ready.proof.reason);
        return ready.proof.exit_code;
    }
    return ready.collective
               ? run_compared(ready.target, *ready.collective, ready.plans, ready.proof, options)
               : run_and_show(ready.target, ready.plans, ready.proof, options);
}

}  // namespace

ReadyRun make_ready(const RunOptions& options) {
    check_options(options);
    TargetOptions what = options.target;
    what.calls = options.calls;
    Target target = load_target(what, options.expect);
    const std::vector<Plan> plans = plans_for(target);
    auto collective = collective_of(target, options.target, options.expect, plans);
    // The calls that are run are proved. What Peal compiles is right call after call and is always
    // held to a few; a kernel from elsewhere may be made for one.
    CheckOptions checks;
    checks.calls = target.is_pto() ? options.calls : std::max(options.calls, kProvedCalls);
    checks.device = device_rules(options.target);
    checks.strict_loads = options.target.strict_loads;
    std::optional<Meaning> meaning = meaning_for(target, collective, plans);
    // That ranks of a foreign plan add in different orders is for `peal check` to say.
    if (target.foreign && meaning && options.expect.empty()) meaning->same_bits = false;
    Proof proof = prove(plans, meaning, options.check, std::move(checks), order_of(options.order),
                        target.foreign ? target.foreign->alternating : std::vector<std::uint16_t>(),
                        target.holds);
    ReadyRun ready{std::move(target), std::move(collective), {}, std::move(proof)};
    if (!ready.is_refused(options)) ready.plans = plan::for_host(plans);
    return ready;
}

void add_carry_options(Command& command, RunOptions& options) {
    add_target_options(command, options.target)->required();
    add_ranks_option(command, options.target);
    command.add_option("--expect", options.expect,
                       "the collective that a .peal kernel should compute");
    command.add_option("--calls", options.calls, "calls in a row on the same windows (default 1)");
    command.add_option("--seed", options.seed,
                       "a random interleaving, the same one for the same seed");
    command.add_flag("--check", options.check,
                     "prove the plans first, however large; run them only if they prove");
    command.add_option("--order", options.order,
                       "when the proof takes stores of a pipe to be visible to the others: "
                       "drained, fenced, or both where they differ (default both)");
    command.add_flag("--processes", options.processes, "one process per rank");
    command.add_option("--timeout", options.timeout_seconds,
                       "with --processes: seconds after which a rank waits no longer (default 10)");
}

void add_run(CommandLine& line) {
    Command* command =
        line.add_subcommand("run", "carry out a collective or kernel and compare with golden");
    auto options = std::make_shared<RunOptions>();
    add_carry_options(*command, *options);
    add_store_option(*command);
    command->add_flag("--timings", options->timings,
                      "with -p: print when each task was where, to stderr");
    command->add_option("--trace", options->trace,
                        "with -p: a file to write that to, for ui.perfetto.dev");
    command->add_flag("--json", options->json, "the result as JSON");
    command->footer(
        "Exit codes: 0 fine, 1 wrong result or deadlock, 2 bad usage or bad program,\n"
        "3 not proved within the bound (--check).\n"
        "Examples:\n"
        "  peal run allreduce --recipe ring -n 4 --count 256\n"
        "  peal run allreduce -p a2a3sim -d 0-3\n"
        "  peal run examples/mesh_allreduce.peal -n 4 --set n=1000 --expect allreduce --calls 3\n"
        "  peal run examples/pto/allreduce_ring.cpp -n 4 --as allreduce --processes");
    command->callback([options] { return run(*options); });
}

}  // namespace peal::cli
