// SPDX-License-Identifier: Apache-2.0
#include "comm/table.hpp"

namespace peal::comm {
namespace {

constexpr std::uint64_t kKiB = 1 << 10;
constexpr std::uint64_t kMiB = 1 << 20;

Rule private_rule(CollectiveKind kind, std::uint64_t max_bytes, std::string mode,
                  std::uint64_t stage_bytes = 0, int max_ranks = kMaxRanks) {
    return {kind, false, max_ranks, max_bytes, std::move(mode), stage_bytes, false};
}

// Between two ranks what is staged has one reader, so staging all of it at once pays longer.
Rule pair_rule(CollectiveKind kind, std::uint64_t max_bytes, std::string mode,
               std::uint64_t stage_bytes = 0) {
    return private_rule(kind, max_bytes, std::move(mode), stage_bytes, 2);
}

Rule reach_rule(CollectiveKind kind, int max_ranks, std::string mode) {
    return {kind, false, max_ranks, Rule::kAny, std::move(mode), 0, true};
}

Rule window_rule(CollectiveKind kind, std::uint64_t max_bytes, std::string mode) {
    return {kind, true, kMaxRanks, max_bytes, std::move(mode), 0, false};
}

}  // namespace

// Little data rides in the signal's line or is put beside it; more is staged once in a ring and
// read by whoever wants it; large messages go through a staging window that stays in the caches, or
// are copied once, by the system.
Table built_in_table() {
    using enum CollectiveKind;
    constexpr std::uint64_t any = Rule::kAny;
    return {"built in",
            {
                private_rule(allreduce, 1 * kKiB, "push"),
                private_rule(allreduce, 128 * kKiB, "pull"),
                pair_rule(allreduce, 384 * kKiB, "pull"),
                private_rule(allreduce, any, "pipeline", 1 * kMiB),
                private_rule(reduce_scatter, 64 * kKiB, "push"),
                private_rule(reduce_scatter, any, "pipeline", 1 * kMiB),
                private_rule(allgather, 1 * kKiB, "push"),
                private_rule(allgather, 128 * kKiB, "pull"),
                pair_rule(allgather, 448 * kKiB, "pull"),
                pair_rule(allgather, 768 * kKiB, "pipeline", 1 * kMiB),
                reach_rule(allgather, 2, "mesh"),
                private_rule(allgather, any, "pipeline", 1 * kMiB),
                private_rule(broadcast, 1 * kKiB, "push"),
                private_rule(broadcast, 128 * kKiB, "pull"),
                pair_rule(broadcast, 448 * kKiB, "pipeline", 384 * kKiB),
                pair_rule(broadcast, 1536 * kKiB, "pipeline", 768 * kKiB),
                reach_rule(broadcast, 2, "joint"),
                private_rule(broadcast, any, "pipeline", 1 * kMiB),
                private_rule(all_to_all, 64 * kKiB, "push"),
                pair_rule(all_to_all, 256 * kKiB, "push"),
                pair_rule(all_to_all, 768 * kKiB, "pipeline", 1 * kMiB),
                reach_rule(all_to_all, 2, "mesh"),
                private_rule(all_to_all, 384 * kKiB, "pipeline", 1 * kMiB),
                reach_rule(all_to_all, kMaxRanks, "mesh"),
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

bool may_reach(CollectiveKind kind, std::string_view mode) {
    return !has_reduction(kind) && offers(kind, mode, Placement::into_window);
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
