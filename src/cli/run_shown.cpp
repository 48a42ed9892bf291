// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/proof.hpp"
#include "cli/run.hpp"
#include "cli/table.hpp"
#include "golden/number.hpp"
#include "golden/rehearse.hpp"

namespace peal::cli {
namespace {

constexpr std::uint64_t kHead = 8;

std::uint64_t elements(const Buffer& buffer) { return buffer.bytes / bytes_of(buffer.element); }

// Private buffers that the kernel reads, or those that it writes.
bool is_argument(const Buffer& buffer, Direction direction) {
    return buffer.kind == BufferKind::argument &&
           (buffer.direction == direction || buffer.direction == Direction::inout);
}

void fill_inputs(const std::vector<Plan>& plans, golden::Stage& stage) {
    for (const Plan& plan : plans) {
        for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
            const Buffer& buffer = plan.buffers[b];
            if (!is_argument(buffer, Direction::in)) continue;
            const std::size_t size = bytes_of(buffer.element);
            for (std::uint64_t i = 0; i < elements(buffer); ++i) {
                const auto value = static_cast<std::int64_t>(i % 1000) + 100 * plan.rank;
                golden::store(buffer.element, stage.memory(plan.rank, b) + i * size,
                              golden::number_of(buffer.element, value));
            }
        }
    }
}

struct Output {
    int rank;
    std::string name;
    std::uint64_t elements;
    std::vector<std::string> head;
};

std::vector<Output> outputs_of(const std::vector<Plan>& plans, golden::Stage& stage) {
    std::vector<Output> outputs;
    for (const Plan& plan : plans) {
        for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
            const Buffer& buffer = plan.buffers[b];
            if (!is_argument(buffer, Direction::out)) continue;
            Output output{plan.rank, buffer.name, elements(buffer), {}};
            for (std::uint64_t i = 0; i < std::min(output.elements, kHead); ++i) {
                const std::byte* at = stage.memory(plan.rank, b) + i * bytes_of(buffer.element);
                output.head.push_back(golden::to_text(golden::load(buffer.element, at)));
            }
            outputs.push_back(std::move(output));
        }
    }
    return outputs;
}

void print_json(const Target& target, const std::vector<Output>& outputs, const std::string& proof,
                double seconds, const RunOptions& options) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Output& output : outputs) {
        list.push_back({{"rank", output.rank},
                        {"name", output.name},
                        {"elements", output.elements},
                        {"head", output.head}});
    }
    const nlohmann::ordered_json json = {{"target", target.kernel}, {"ranks", target.nranks},
                                         {"calls", options.calls},  {"proof", proof},
                                         {"seconds", seconds},      {"outputs", list}};
    fmt::print("{}\n", json.dump(2));
}

void print_text(const Target& target, const std::vector<Output>& outputs, const std::string& proof,
                double seconds, const RunOptions& options) {
    for (const Output& output : outputs) {
        fmt::print("rank {}  {}[{}] = {}{}\n", output.rank, output.name, output.elements,
                   fmt::join(output.head, " "), output.elements > kHead ? " ..." : "");
    }
    fmt::print("{} on {} ranks: {} call{}, {}; proof: {}; not compared (use --expect)\n",
               target.kernel, target.nranks, options.calls, options.calls == 1 ? "" : "s",
               duration_text(seconds), proof);
}

}  // namespace

int run_and_show(const Target& target, const std::vector<Plan>& plans, const RunOptions& options) {
    const Proof proof = prove(plans, nullptr, options.check);
    if (options.check && proof.exit_code != kFine) {
        fmt::print(stderr, "peal: not run: {}\n", proof.reason);
        return proof.exit_code;
    }
    golden::Stage stage(plans);
    InProcessEngine engine(target.nranks, options.engine());
    double seconds = 0;
    for (int call = 0; call < options.calls; ++call) {
        fill_inputs(plans, stage);
        seconds = engine.run(plans, stage.bindings()).seconds;
    }
    (options.json ? print_json : print_text)(target, outputs_of(plans, stage), proof.word, seconds,
                                             options);
    return kFine;
}

}  // namespace peal::cli
