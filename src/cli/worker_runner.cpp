// SPDX-License-Identifier: Apache-2.0
#include "cli/worker_runner.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "cli/target.hpp"
#include "worker/devices.hpp"

namespace peal::cli {
namespace {

using Clock = std::chrono::steady_clock;

WorkerOptions worker_options(const TargetOptions& options, int nranks) {
    WorkerOptions worker;
    worker.platform = options.platform;
    if (options.devices) {
        worker.devices = worker::parse_devices(*options.devices);
    } else {
        worker.ranks = nranks;
    }
    return worker;
}

std::string_view window_name(const Buffer& buffer) { return buffer.name; }

}  // namespace

WorkerRunner::WorkerRunner(const std::vector<Plan>& plans, const RunOptions& options)
    : plans_(plans),
      options_(options),
      worker_(worker_options(options.target, static_cast<int>(plans.size()))),
      kernel_(plans),
      domain_(worker_.allocate_domain(
          {.name = "all", .windows = kernel_.windows(static_cast<int>(plans.size()))})) {
    for (const Plan& plan : plans) {
        auto& buffers = arguments_.emplace_back();
        for (const Buffer& buffer : plan.buffers) {
            const bool is_private = buffer.kind == BufferKind::argument;
            buffers.emplace_back(is_private ? buffer.bytes : 0);
        }
    }
}

std::byte* WorkerRunner::memory(int rank, std::size_t buffer) const {
    const auto r = static_cast<std::size_t>(rank);
    const Buffer& what = plans_[r].buffers[buffer];
    if (what.kind == BufferKind::argument) return arguments_[r][buffer].data();
    return domain_.view(window_name(what), rank).data();
}

Arguments WorkerRunner::arguments_of(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    Arguments arguments;
    for (std::size_t b = 0; b < plans_[r].buffers.size(); ++b) {
        const Buffer& buffer = plans_[r].buffers[b];
        if (buffer.kind == BufferKind::argument) {
            arguments.emplace_back(
                Tensor(Memory{memory(rank, b), buffer.elements(), buffer.element}));
        } else {
            arguments.emplace_back(domain_.window(window_name(buffer)));
        }
    }
    return arguments;
}

golden::Outcome WorkerRunner::run(const RankWork& work) {
    const auto nranks = static_cast<int>(plans_.size());
    golden::Outcome outcome;
    for (int call = 0; call < work.calls; ++call) {
        const auto memory_of = [&](int rank) -> RankMemory {
            return [this, rank](std::size_t buffer) { return memory(rank, buffer); };
        };
        for (int rank = 0; rank < nranks; ++rank) work.before(rank, call, memory_of(rank));
        const Clock::time_point begin = Clock::now();
        worker_
            .submit_group(kernel_, domain_,
                          per_rank(nranks, [&](int rank) { return arguments_of(rank); }))
            .wait();
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        outcome.seconds = call == 0 ? seconds : std::min(outcome.seconds, seconds);
        for (int rank = 0; rank < nranks && !outcome.wrong; ++rank) {
            outcome.wrong = work.after(rank, call, memory_of(rank));
        }
    }
    report_timings();
    return outcome;
}

void WorkerRunner::report_timings() const {
    if (options_.timings) fmt::print(stderr, "{}", to_table(worker_.timings()));
    if (!options_.trace.empty()) worker_.write_trace(options_.trace);
}

}  // namespace peal::cli
