// SPDX-License-Identifier: Apache-2.0
// peal run: carry out a collective or a kernel in process and compare with golden.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/table.hpp"
#include "cli/target.hpp"
#include "golden/number.hpp"
#include "golden/rehearse.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

struct RunOptions {
    TargetOptions target;
    std::string expect;
    int calls = 1;
    std::optional<std::uint64_t> seed;
    bool json = false;
};

EngineOptions engine_options(const RunOptions& options) {
    EngineOptions engine;
    engine.seed = options.seed;
    return engine;
}

// ---- comparing with a collective

std::optional<std::size_t> find_buffer(const Plan& plan, BufferKind kind,
                                       std::initializer_list<Direction> directions) {
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        const Buffer& buffer = plan.buffers[b];
        const bool fits =
            std::find(directions.begin(), directions.end(), buffer.direction) != directions.end();
        if (buffer.kind == kind && fits) return b;
    }
    return std::nullopt;
}

// A kernel's first input and first output, or its first window when it has no other memory.
golden::Ports find_ports(const Plan& plan) {
    const auto input = find_buffer(plan, BufferKind::argument, {Direction::in, Direction::inout});
    const auto output = find_buffer(plan, BufferKind::argument, {Direction::out, Direction::inout});
    if (input && output) return {*input, *output, false};
    const auto window = find_buffer(plan, BufferKind::window, {Direction::inout});
    if (!input && !output && window) return {*window, *window, true};
    throw Error(
        Fault::usage,
        fmt::format("--expect: kernel '{}' has no input and output to compare: give it an `in` and "
                    "an `out` tensor, or only a window",
                    plan.kernel));
}

std::uint64_t expected_count(CollectiveKind kind, const Plan& plan, const golden::Ports& ports) {
    const Buffer& input = plan.buffers[ports.input];
    const Buffer& output = plan.buffers[ports.output];
    const auto nranks = static_cast<std::uint64_t>(plan.nranks);
    const std::uint64_t in = input.bytes / bytes_of(input.element);
    const std::uint64_t out = output.bytes / bytes_of(output.element);
    switch (kind) {
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::scatter: return ports.in_window ? out / nranks : out;
        case CollectiveKind::allgather:
        case CollectiveKind::gather: return ports.in_window ? in / nranks : in;
        case CollectiveKind::all_to_all: return in / nranks;
        default: return in;
    }
}

void check_port_sizes(const Collective& collective, const std::vector<Plan>& plans,
                      const golden::Ports& ports) {
    if (ports.in_window) return;
    for (const Plan& plan : plans) {
        const auto check = [&](std::size_t buffer, std::uint64_t wanted, std::string_view what) {
            const Buffer& found = plan.buffers[buffer];
            const std::uint64_t elements = found.bytes / bytes_of(found.element);
            if (elements == wanted) return;
            throw Error(
                Fault::usage,
                fmt::format("--expect {}: {} '{}' of rank {} has {} elements, expected {}",
                            name(collective.kind), what, found.name, plan.rank, elements, wanted));
        };
        check(ports.input, input_count(collective, plan.rank, plan.nranks), "input");
        check(ports.output, output_count(collective, plan.rank, plan.nranks), "output");
    }
}

Collective expected_collective(const RunOptions& options, const Target& target,
                               const std::vector<Plan>& plans, const golden::Ports& ports) {
    const auto kind = collective_from(options.expect);
    if (!kind || *kind == CollectiveKind::barrier) {
        throw Error(Fault::usage, fmt::format("--expect: '{}' is not a collective with a result",
                                              options.expect));
    }
    Collective collective = collective_for(*kind, options.target, target.nranks);
    collective.mode = "auto";
    collective.element = plans.front().buffers[ports.output].element;
    collective.count = expected_count(*kind, plans.front(), ports);
    collective.in_place = ports.in_window;
    if (const auto root = target.bindings.integers.find("root");
        root != target.bindings.integers.end()) {
        collective.root = static_cast<int>(root->second);
    }
    validate(collective, target.nranks);
    check_port_sizes(collective, plans, ports);
    return collective;
}

struct Row {
    std::string what, algorithm;
    int ranks = 0;
    std::uint64_t elements = 0;
    std::string element, op;
    golden::Outcome outcome;
};

int report(const Row& row, const RunOptions& options) {
    const std::string verdict = row.outcome.wrong ? "WRONG" : "ok";
    if (options.json) {
        nlohmann::ordered_json json = {{"target", row.what},
                                       {"algorithm", row.algorithm},
                                       {"ranks", row.ranks},
                                       {"elements", row.elements},
                                       {"dtype", row.element},
                                       {"op", row.op},
                                       {"calls", options.calls},
                                       {"golden", verdict},
                                       {"seconds", row.outcome.seconds}};
        if (row.outcome.wrong) json["difference"] = *row.outcome.wrong;
        fmt::print("{}\n", json.dump(2));
    } else {
        fmt::print("{}", to_table({{"collective", "algorithm", "ranks", "elements", "type", "op",
                                    "calls", "golden", "time"},
                                   {row.what, row.algorithm, std::to_string(row.ranks),
                                    std::to_string(row.elements), row.element, row.op,
                                    std::to_string(options.calls), verdict,
                                    duration_text(row.outcome.seconds)}}));
    }
    if (row.outcome.wrong) fmt::print(stderr, "peal: wrong result: {}\n", *row.outcome.wrong);
    return row.outcome.wrong ? kWrong : kFine;
}

int run_collective(const Target& target, const RunOptions& options) {
    const Collective& collective = *target.collective;
    const std::vector<Plan> plans = plans_for(target);
    const std::uint64_t bytes = collective.count * bytes_of(collective.element);
    Row row;
    row.what = target.kernel;
    row.algorithm =
        collective.mode == "auto"
            ? fmt::format("auto: {}", choose_mode(collective.kind, bytes, target.nranks))
            : collective.mode;
    row.ranks = target.nranks;
    row.elements = collective.kind == CollectiveKind::barrier ? 0 : collective.count;
    row.element = name(collective.element);
    row.op = has_reduction(collective.kind) ? name(collective.op) : "-";
    row.outcome = golden::rehearse(plans, collective, golden::ports_of(collective), options.calls,
                                   engine_options(options));
    return report(row, options);
}

int run_expecting(const Target& target, const RunOptions& options) {
    const std::vector<Plan> plans = plans_for(target);
    const golden::Ports ports = find_ports(plans.front());
    const Collective collective = expected_collective(options, target, plans, ports);
    Row row;
    row.what = fmt::format("{} as {}", target.kernel, name(collective.kind));
    row.algorithm = "-";
    row.ranks = target.nranks;
    row.elements = collective.count;
    row.element = name(collective.element);
    row.op = has_reduction(collective.kind) ? name(collective.op) : "-";
    row.outcome =
        golden::rehearse(plans, collective, ports, options.calls, engine_options(options));
    return report(row, options);
}

// ---- showing what comes out

constexpr std::size_t kHead = 8;

std::vector<std::string> head_of(const Buffer& buffer, const std::byte* memory) {
    std::vector<std::string> head;
    const std::uint64_t elements = buffer.bytes / bytes_of(buffer.element);
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(elements, kHead); ++i) {
        head.push_back(
            golden::to_text(golden::load(buffer.element, memory + i * bytes_of(buffer.element))));
    }
    return head;
}

void fill_inputs(const std::vector<Plan>& plans, golden::Stage& stage) {
    for (const Plan& plan : plans) {
        for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
            const Buffer& buffer = plan.buffers[b];
            const bool input =
                buffer.kind == BufferKind::argument &&
                (buffer.direction == Direction::in || buffer.direction == Direction::inout);
            if (!input) continue;
            const std::size_t size = bytes_of(buffer.element);
            for (std::uint64_t i = 0; i < buffer.bytes / size; ++i) {
                const auto value = static_cast<std::int64_t>(i % 1000) + 100 * plan.rank;
                golden::store(buffer.element, stage.memory(plan.rank, b) + i * size,
                              golden::number_of(buffer.element, value));
            }
        }
    }
}

int run_kernel(const Target& target, const RunOptions& options) {
    const std::vector<Plan> plans = plans_for(target);
    golden::Stage stage(plans);
    InProcessEngine engine(target.nranks, engine_options(options));
    RunReport last;
    for (int call = 0; call < options.calls; ++call) {
        fill_inputs(plans, stage);
        last = engine.run(plans, stage.bindings());
    }
    nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
    for (const Plan& plan : plans) {
        for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
            const Buffer& buffer = plan.buffers[b];
            const bool output =
                buffer.kind == BufferKind::argument &&
                (buffer.direction == Direction::out || buffer.direction == Direction::inout);
            if (!output) continue;
            const auto head = head_of(buffer, stage.memory(plan.rank, b));
            const std::uint64_t elements = buffer.bytes / bytes_of(buffer.element);
            if (options.json) {
                outputs.push_back({{"rank", plan.rank},
                                   {"name", buffer.name},
                                   {"elements", elements},
                                   {"head", head}});
            } else {
                fmt::print("rank {}  {}[{}] = {}{}\n", plan.rank, buffer.name, elements,
                           fmt::join(head, " "), elements > kHead ? " ..." : "");
            }
        }
    }
    if (options.json) {
        const nlohmann::ordered_json json = {{"target", target.kernel},
                                             {"ranks", target.nranks},
                                             {"calls", options.calls},
                                             {"seconds", last.seconds},
                                             {"outputs", outputs}};
        fmt::print("{}\n", json.dump(2));
    } else {
        fmt::print("{} on {} ranks: {} call{}, {}; not compared (use --expect)\n", target.kernel,
                   target.nranks, options.calls, options.calls == 1 ? "" : "s",
                   duration_text(last.seconds));
    }
    return kFine;
}

int run(const RunOptions& options) {
    if (options.calls < 1)
        throw Error(Fault::usage,
                    fmt::format("--calls: expected at least 1, found {}", options.calls));
    const Target target = resolve(options.target);
    if (target.collective) {
        if (!options.expect.empty())
            throw Error(Fault::usage,
                        "--expect is for .peal kernels; a collective knows its result");
        return run_collective(target, options);
    }
    return options.expect.empty() ? run_kernel(target, options) : run_expecting(target, options);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
    CLI::App* command =
        app.add_subcommand("run", "carry out a collective or kernel and compare with golden");
    auto options = std::make_shared<RunOptions>();
    add_target_options(*command, options->target);
    command->add_option("--expect", options->expect,
                        "the collective that a .peal kernel should compute");
    command->add_option("--calls", options->calls,
                        "calls in a row on the same windows (default 1)");
    command->add_option("--seed", options->seed,
                        "a random interleaving, the same one for the same seed");
    command->add_flag("--json", options->json, "the result as JSON");
    command->footer(
        "Exit codes: 0 fine, 1 wrong result or deadlock, 2 bad usage or bad program.\n"
        "Examples:\n"
        "  peal run allreduce --algo ring -n 4 --count 256\n"
        "  peal run allreduce -p a2a3sim -d 0-3\n"
        "  peal run examples/mesh_allreduce.peal -n 4 --set n=1000 --expect allreduce --calls 3");
    command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace peal::cli
