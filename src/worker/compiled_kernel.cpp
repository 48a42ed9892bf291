// SPDX-License-Identifier: Apache-2.0
#include "worker/compiled_kernel.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "plan/access.hpp"
#include "plan/for_host.hpp"
#include "plan/pipes.hpp"
#include "worker/control.hpp"

namespace peal::worker {
namespace {

std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last = 0;
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::vector<Plan> validated(std::vector<Plan> plans) {
    if (plans.empty()) throw Error(Fault::usage, "a kernel needs the plan of at least one rank");
    validate(plans);
    if (plans[0].buffers.size() > kMaxBuffers) {
        throw Error(Fault::usage,
                    fmt::format("kernel {}: expected at most {} parameters that are memory, found "
                                "{}",
                                plans[0].kernel, kMaxBuffers, plans[0].buffers.size()));
    }
    for (const Plan& plan : plans) {
        if (plan.lane_count() <= kMaxDeviceLanes) continue;
        throw Error(Fault::usage,
                    fmt::format("kernel {}, rank {}: expected at most {} lanes, found {}",
                                plan.kernel, plan.rank, kMaxDeviceLanes, plan.lane_count()));
    }
    return plans;
}

using Pieces = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // [begin, end)

bool cover(Pieces pieces, std::uint64_t bytes) {
    std::sort(pieces.begin(), pieces.end());
    std::uint64_t covered = 0;
    for (const auto& [begin, end] : pieces) {
        if (begin > covered) return false;
        covered = std::max(covered, end);
    }
    return covered >= bytes;
}

std::vector<BufferUse> uses_of(const Plan& plan) {
    std::vector<BufferUse> uses(plan.buffers.size());
    std::vector<Pieces> written(plan.buffers.size());
    const auto is_argument = [&](const Range& range) {
        return !plan::is_tile(range) && plan.buffers[range.buffer].kind == BufferKind::argument &&
               range.length > 0;
    };
    for (const Instruction& instruction : plan.instructions) {
        plan::for_each_access(
            instruction.action,
            [&](const Range& range) {
                if (is_argument(range)) uses[range.buffer].reads = true;
            },
            [&](const Range& range) {
                if (!is_argument(range)) return;
                uses[range.buffer].writes = true;
                if (range.shift != 0) return;  // in every turn another part
                written[range.buffer].emplace_back(range.offset, plan::end_of(range));
            });
    }
    for (std::size_t b = 0; b < uses.size(); ++b) {
        uses[b].writes_all = cover(std::move(written[b]), plan.buffers[b].bytes);
        // An output is read only after it was written: the kernel's checker saw to that.
        if (plan.buffers[b].direction == Direction::out) uses[b].reads = false;
    }
    return uses;
}

}  // namespace

CompiledKernel::CompiledKernel(std::vector<Plan> all, std::vector<std::size_t> arguments,
                               std::optional<Collective> meant)
    : id(next_id()),
      piped(std::all_of(all.begin(), all.end(), plan::is_in_order) ? std::vector<Plan>()
                                                                   : validated(all)),
      plans(piped.empty() ? validated(std::move(all)) : plan::for_host(piped)),
      argument_of(std::move(arguments)),
      collective(std::move(meant)) {
    for (const Plan& plan : plans) {
        uses.push_back(uses_of(plan));
        const Traffic traffic = peal::traffic(plan);
        traffic_bytes.push_back(traffic.bytes_read + traffic.bytes_written);
    }
}

}  // namespace peal::worker
