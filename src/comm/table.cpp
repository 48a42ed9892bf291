// SPDX-License-Identifier: Apache-2.0
#include "comm/table.hpp"

namespace peal::comm {
namespace {

constexpr std::uint64_t kKiB = 1 << 10;
constexpr std::uint64_t kMiB = 1 << 20;

Rule private_rule(CollectiveKind kind, std::uint64_t max_bytes, std::string mode,
                  std::uint64_t stage_bytes = 0) {
    return {kind, false, kMaxRanks, max_bytes, std::move(mode), stage_bytes};
}

Rule window_rule(CollectiveKind kind, std::uint64_t max_bytes, std::string mode) {
    return {kind, true, kMaxRanks, max_bytes, std::move(mode), 0};
}

}  // namespace

// Little data rides in the signal's line or is put beside it; more is staged once in a ring and
// read by whoever wants it; large messages go through a staging window that stays in the caches.
Table built_in_table() {
    using enum CollectiveKind;
    constexpr std::uint64_t any = Rule::kAny;
    return {"built in",
            {
                private_rule(allreduce, 1 * kKiB, "push"),
                private_rule(allreduce, 128 * kKiB, "pull"),
                private_rule(allreduce, any, "pipeline", 1 * kMiB),
                private_rule(reduce_scatter, 64 * kKiB, "push"),
                private_rule(reduce_scatter, any, "pipeline", 1 * kMiB),
                private_rule(allgather, 1 * kKiB, "push"),
                private_rule(allgather, 128 * kKiB, "pull"),
                private_rule(allgather, any, "pipeline", 1 * kMiB),
                private_rule(broadcast, 1 * kKiB, "push"),
                private_rule(broadcast, 128 * kKiB, "pull"),
                private_rule(broadcast, any, "pipeline", 1 * kMiB),
                private_rule(all_to_all, 64 * kKiB, "push"),
                private_rule(all_to_all, any, "pipeline", 1 * kMiB),
                private_rule(all_to_all_v, 256 * kKiB, "push"),
                private_rule(all_to_all_v, any, "pipeline", 1 * kMiB),
                private_rule(reduce, 64 * kKiB, "push"),
                private_rule(reduce, any, "pipeline", 1 * kMiB),
                private_rule(gather, 64 * kKiB, "push"),
                private_rule(gather, any, "pipeline", 1 * kMiB),
                private_rule(scatter, 64 * kKiB, "push"),
                private_rule(scatter, any, "pipeline", 1 * kMiB),
                private_rule(barrier, any, "mesh"),
                window_rule(allreduce, any, "direct"),
                window_rule(reduce_scatter, any, "mesh"),
                window_rule(allgather, any, "mesh"),
                window_rule(broadcast, any, "mesh"),
                window_rule(all_to_all, any, "mesh"),
            }};
}

std::vector<const Rule*> Table::choices(CollectiveKind kind, bool on_window, std::uint64_t bytes,
                                        int nranks) const {
    std::vector<const Rule*> result;
    for (const Rule& rule : rules) {
        if (rule.kind == kind && rule.on_window == on_window && bytes <= rule.max_bytes &&
            nranks <= rule.max_ranks) {
            result.push_back(&rule);
        }
    }
    return result;
}

}  // namespace peal::comm
