// SPDX-License-Identifier: Apache-2.0
#include "engine/in_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/standing.hpp"
#include "peal/error.hpp"

namespace peal {
namespace {

// With fewer bytes in all buffers together, waking a helper costs more than it brings.
constexpr std::uint64_t kWorthSharingBytes = 1 << 20;

int checked_ranks(int nranks) {
    if (nranks >= 1) return nranks;
    throw Error(Fault::usage, fmt::format("engine: expected at least 1 rank, found {}", nranks));
}

// One per core unless said otherwise.
std::size_t thread_count(int wanted) {
    if (wanted < 0) {
        throw Error(Fault::usage,
                    fmt::format("engine: expected 0 or more threads, found {}", wanted));
    }
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    return static_cast<std::size_t>(wanted == 0 ? cores : wanted);
}

std::uint64_t bytes_of_buffers(const std::vector<Plan>& plans) {
    std::uint64_t bytes = 0;
    for (const Plan& plan : plans) {
        for (const Buffer& buffer : plan.buffers) bytes += buffer.bytes;
    }
    return bytes;
}

std::string deadlock_report(std::span<const engine::Core> cores) {
    std::vector<engine::Standing> all;
    for (const engine::Core& core : cores) all.push_back(engine::standing_of(core));
    engine::StandingReport report(std::string(engine::kDeadlock),
                                  static_cast<std::size_t>(cores.front().plan().nranks));
    for (auto first = all.begin(); first != all.end();) {
        const int rank = first->plan->rank;
        const auto last = std::find_if(first, all.end(), [&](const engine::Standing& other) {
            return other.plan->rank != rank;
        });
        if (std::all_of(first, last, [](const engine::Standing& lane) { return lane.is_done(); })) {
            report.add(rank, "finished");
        }
        for (; first != last; ++first) {
            if (!first->is_done()) report.add(rank, "", *first, all);
        }
    }
    return std::move(report).text();
}

}  // namespace

InProcessEngine::Impl::Impl(int rank_count, const EngineOptions& options)
    : nranks(checked_ranks(rank_count)),
      threads_are_ours_to_choose(options.threads == 0),
      crew(thread_count(options.threads)),
      tapes(static_cast<std::size_t>(nranks)),
      bound(static_cast<std::size_t>(nranks)) {
    if (options.seed) random.emplace(*options.seed);
}

RunReport InProcessEngine::Impl::run(const std::vector<Plan>& plans,
                                     const std::vector<std::vector<Binding>>& bindings) {
    const std::lock_guard lock(one_run_at_a_time);
    const auto begin = std::chrono::steady_clock::now();
    check(plans, bindings);
    bind(plans, bindings);
    if (carry_out(plans) == engine::RunEnd::stuck)
        throw Error(Fault::wrong, deadlock_report(cores));

    engine::advance_generations(plans[0], [&](std::size_t b) -> std::int64_t& {
        return bindings[0][b].symmetric->state_->generation;
    });
    RunReport report;
    for (const Plan& plan : plans) report.instructions += plan.instructions.size();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    report.seconds = elapsed.count();
    return report;
}

engine::RunEnd InProcessEngine::Impl::carry_out(const std::vector<Plan>& plans) {
    if (random) return engine::interleave(cores, *random);
    const bool with_helpers =
        !threads_are_ours_to_choose || bytes_of_buffers(plans) >= kWorthSharingBytes;
    return crew.run(cores, with_helpers);
}

InProcessEngine::InProcessEngine(int nranks, EngineOptions options)
    : impl_(std::make_unique<Impl>(nranks, options)) {}
InProcessEngine::~InProcessEngine() = default;

RunReport InProcessEngine::run(const std::vector<Plan>& plans,
                               const std::vector<std::vector<Binding>>& bindings) {
    return impl_->run(plans, bindings);
}

}  // namespace peal
