// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/proof_json.hpp"
#include "cli/run.hpp"
#include "cli/runner.hpp"
#include "cli/table.hpp"
#include "golden/number.hpp"

namespace peal::cli {
namespace {

constexpr std::uint64_t kHead = 8;

struct Output {
    int rank;
    std::string name;
    std::uint64_t elements;
    std::vector<std::string> head;
};

void add_outputs(const Plan& plan, const RankMemory& memory, std::vector<Output>& outputs) {
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        const Buffer& buffer = plan.buffers[b];
        if (!is_argument(buffer, Direction::out)) continue;
        Output output{plan.rank, buffer.name, buffer.elements(), {}};
        for (std::uint64_t i = 0; i < std::min(output.elements, kHead); ++i) {
            const std::byte* at = memory(b) + i * bytes_of(buffer.element);
            output.head.push_back(golden::to_text(golden::load(buffer.element, at)));
        }
        outputs.push_back(std::move(output));
    }
}

// What came out, and how long a call took.
struct Shown {
    std::vector<Output> outputs;
    double seconds = 0;
};

RankWork work_of(const std::vector<Plan>& plans, const RunOptions& options) {
    RankWork work;
    work.calls = options.calls;
    work.timeout = options.timeout();
    work.before = [&](int rank, int, const RankMemory& memory) {
        fill_inputs(plans[static_cast<std::size_t>(rank)], memory);
    };
    work.after = [](int, int, const RankMemory&) { return std::nullopt; };
    return work;
}

void print_json(const Target& target, const Shown& shown, const Proof& proof,
                const RunOptions& options) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Output& output : shown.outputs) {
        list.push_back({{"rank", output.rank},
                        {"name", output.name},
                        {"elements", output.elements},
                        {"head", output.head}});
    }
    nlohmann::ordered_json json = {{"target", target.kernel},  {"ranks", target.nranks},
                                   {"calls", options.calls},   {"proof", proof.word},
                                   {"seconds", shown.seconds}, {"outputs", list}};
    add_proof(json, proof);
    fmt::print("{}\n", json.dump(2));
}

void print_text(const Target& target, const Shown& shown, const Proof& proof,
                const RunOptions& options) {
    for (const Output& output : shown.outputs) {
        fmt::print("rank {}  {}[{}] = {}{}\n", output.rank, output.name, output.elements,
                   fmt::join(output.head, " "), output.elements > kHead ? " ..." : "");
    }
    fmt::print("{} on {} ranks: {} call{}, {}; proof: {}{}; not compared (use {})\n", target.kernel,
               target.nranks, options.calls, options.calls == 1 ? "" : "s",
               duration_text(shown.seconds), proof.word,
               proof.result.empty() ? "" : ", " + proof.result,
               target.is_pto() ? "--as" : "--expect");
}

}  // namespace

int run_and_show(const Target& target, const std::vector<Plan>& plans, const Proof& proof,
                 const RunOptions& options) {
    const std::unique_ptr<Runner> runner = make_runner(plans, options);
    Shown shown;
    shown.seconds = runner->run(with_held(work_of(plans, options), plans, target.holds)).seconds;
    for (const Plan& plan : plans) {
        const auto memory = [&](std::size_t buffer) { return runner->argument(plan.rank, buffer); };
        add_outputs(plan, memory, shown.outputs);
    }
    (options.json ? print_json : print_text)(target, shown, proof, options);
    return kFine;
}

}  // namespace peal::cli
