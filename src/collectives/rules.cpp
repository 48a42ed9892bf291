// SPDX-License-Identifier: Apache-2.0
#include "collectives/rules.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace peal::collectives {
namespace {

constexpr std::uint64_t kKiB = 1 << 10;
constexpr std::uint64_t kMiB = 1 << 20;

Rule target_rule(CollectiveKind kind, std::uint64_t max_bytes, int max_ranks, std::string recipe) {
    return {kind, Where::target, max_ranks, max_bytes, std::move(recipe), 0, false};
}

Rule private_rule(CollectiveKind kind, std::uint64_t max_bytes, std::string recipe,
                  std::uint64_t stage_bytes = 0, int max_ranks = kMaxRanks) {
    return {kind, Where::staging, max_ranks, max_bytes, std::move(recipe), stage_bytes, false};
}

// Between two ranks what is staged has one reader, so staging all of it at once pays longer.
Rule pair_rule(CollectiveKind kind, std::uint64_t max_bytes, std::string recipe,
               std::uint64_t stage_bytes = 0) {
    return private_rule(kind, max_bytes, std::move(recipe), stage_bytes, 2);
}

Rule reach_rule(CollectiveKind kind, int max_ranks, std::string recipe,
                std::uint64_t max_bytes = Rule::kAny) {
    return {kind, Where::staging, max_ranks, max_bytes, std::move(recipe), 0, true};
}

Rule window_rule(CollectiveKind kind, std::uint64_t max_bytes, std::string recipe,
                 int max_ranks = kMaxRanks, std::uint64_t stage_bytes = 0) {
    return {kind, Where::window, max_ranks, max_bytes, std::move(recipe), stage_bytes, false};
}

Rule hosts_rule(CollectiveKind kind, std::uint64_t max_bytes, std::string recipe,
                std::uint64_t stage_bytes = 0, int max_per_host = kMaxRanks) {
    Rule rule{kind, Where::hosts, kMaxRanks, max_bytes, std::move(recipe), stage_bytes, false};
    rule.max_per_host = max_per_host;
    return rule;
}

// Between two hosts with a rank on each.
Rule two_hosts_rule(CollectiveKind kind, std::uint64_t max_bytes, std::string recipe) {
    Rule rule = hosts_rule(kind, max_bytes, std::move(recipe), 0, 1);
    rule.max_hosts = 2;
    return rule;
}

std::vector<Rule> all_rules() {
    using enum CollectiveKind;
    constexpr std::uint64_t any = Rule::kAny;
    constexpr int many = kMaxRanks;
    return {
        // Few ranks or little data: one phase, every rank reads every other. More: each rank
        // combines or carries a part. Many ranks: signals to neighbours only, so that their number
        // stays linear.
        target_rule(allreduce, any, 2, "mesh"),
        target_rule(allreduce, 16 * kKiB, 16, "mesh"),
        target_rule(allreduce, any, 16, "two_phase"),
        target_rule(allreduce, 256 * kKiB, many, "halving_doubling"),
        target_rule(allreduce, any, many, "ring"),
        target_rule(reduce_scatter, any, 16, "mesh"),
        target_rule(reduce_scatter, any, many, "ring"),
        target_rule(allgather, any, 16, "mesh"),
        target_rule(allgather, any, many, "ring"),
        target_rule(broadcast, any, 2, "mesh"),
        target_rule(broadcast, 16 * kKiB, 8, "mesh"),
        target_rule(broadcast, 16 * kKiB, many, "tree"),
        target_rule(broadcast, any, many, "scatter_allgather"),
        target_rule(all_to_all, 64 * kKiB, many, "mesh"),
        target_rule(all_to_all, any, many, "pairwise"),
        target_rule(all_to_all_v, any, many, "mesh"),
        target_rule(allgather_v, any, 16, "mesh"),
        target_rule(allgather_v, any, many, "ring"),
        target_rule(reduce_scatter_v, any, 16, "mesh"),
        target_rule(reduce_scatter_v, any, many, "ring"),
        target_rule(reduce, any, many, "mesh"),
        target_rule(gather, any, many, "mesh"),
        target_rule(scatter, any, many, "mesh"),
        target_rule(scan, any, many, "mesh"),
        target_rule(exscan, any, many, "mesh"),
        target_rule(barrier, any, 8, "mesh"),
        target_rule(barrier, any, many, "dissemination"),
        // Little data rides in the signal's line or is put beside it; more is staged once in a ring
        // and read by whoever wants it; large messages go through a staging window that stays in
        // the caches, or are copied once, by the system. What exceeds the caches goes through the
        // window again: the system's stores do not bypass them. Among many ranks the windows are
        // smaller, so that all of them stay in the caches.
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
        reach_rule(allgather, 2, "mesh", 12 * kMiB),
        private_rule(allgather, any, "pipeline", 1 * kMiB, 4),
        private_rule(allgather, any, "pipeline", 256 * kKiB),
        private_rule(broadcast, 1 * kKiB, "push"),
        pair_rule(broadcast, 512 * kKiB, "stream"),
        private_rule(broadcast, 128 * kKiB, "pull"),
        pair_rule(broadcast, 1536 * kKiB, "pipeline", 768 * kKiB),
        reach_rule(broadcast, 2, "joint"),
        private_rule(broadcast, any, "pipeline", 1 * kMiB),
        private_rule(all_to_all, 64 * kKiB, "push"),
        pair_rule(all_to_all, 256 * kKiB, "push"),
        pair_rule(all_to_all, 768 * kKiB, "pipeline", 1 * kMiB),
        reach_rule(all_to_all, 2, "mesh", 6 * kMiB),
        pair_rule(all_to_all, any, "pipeline", 1 * kMiB),
        private_rule(all_to_all, 384 * kKiB, "pipeline", 1 * kMiB),
        reach_rule(all_to_all, kMaxRanks, "mesh", 1536 * kKiB),
        private_rule(all_to_all, any, "pipeline", 1 * kMiB),
        private_rule(all_to_all_v, 256 * kKiB, "push"),
        private_rule(all_to_all_v, any, "pipeline", 1 * kMiB),
        private_rule(allgather_v, 1 * kKiB, "push"),
        private_rule(allgather_v, 128 * kKiB, "pull"),
        pair_rule(allgather_v, 448 * kKiB, "pull"),
        private_rule(allgather_v, any, "pipeline", 1 * kMiB),
        private_rule(reduce_scatter_v, 64 * kKiB, "push"),
        private_rule(reduce_scatter_v, any, "pipeline", 1 * kMiB),
        private_rule(reduce, 64 * kKiB, "push"),
        private_rule(reduce, any, "pipeline", 1 * kMiB),
        private_rule(gather, 64 * kKiB, "push"),
        private_rule(gather, any, "pipeline", 1 * kMiB),
        private_rule(scatter, 64 * kKiB, "push"),
        private_rule(scatter, any, "pipeline", 1 * kMiB),
        private_rule(scan, 1 * kKiB, "push"),
        // Each rank reads all before it, so among many the chain pays sooner.
        private_rule(scan, 32 * kKiB, "pull"),
        private_rule(scan, 128 * kKiB, "pull", 0, 4),
        private_rule(scan, any, "pipeline", 1 * kMiB),
        private_rule(exscan, 1 * kKiB, "push"),
        private_rule(exscan, 32 * kKiB, "pull"),
        private_rule(exscan, 128 * kKiB, "pull", 0, 4),
        private_rule(exscan, any, "pipeline", 1 * kMiB),
        private_rule(barrier, any, "mesh"),
        // On a window peers read and write the data itself, unless there is so little that it is
        // sooner sent than asked for; in an all_to_all each block is in the way of another.
        window_rule(allreduce, 512, "push", 2),
        window_rule(allreduce, any, "direct", 2),
        window_rule(allreduce, 256, "push"),
        window_rule(allreduce, 4 * kKiB, "pull"),
        window_rule(allreduce, any, "direct"),
        window_rule(reduce_scatter, 1 * kKiB, "push"),
        window_rule(reduce_scatter, any, "mesh"),
        window_rule(allgather, 256, "push"),
        window_rule(allgather, any, "mesh", 2),
        window_rule(allgather, 4 * kKiB, "pull"),
        window_rule(allgather, any, "mesh"),
        window_rule(broadcast, 2 * kKiB, "mesh"),
        window_rule(broadcast, any, "joint", 2),
        window_rule(broadcast, any, "mesh"),
        window_rule(all_to_all, 16 * kKiB, "push"),
        window_rule(all_to_all, 1 * kMiB, "pipeline", kMaxRanks, 1 * kMiB),
        window_rule(all_to_all, any, "mesh"),
        // Between hosts a message costs more than its bytes, up to some thousand of them: little
        // data goes in one message between two ranks, or two hosts. More goes through the ranks of
        // each host, so that it crosses once. Who has no recipe for hosts reads from them. Between
        // two ranks nothing crosses twice anyway, and chunks pay only when there are several.
        two_hosts_rule(allreduce, 256 * kKiB, "push"),
        hosts_rule(allreduce, 16 * kKiB, "push", 0, 1),
        hosts_rule(allreduce, 16 * kKiB, "leaders"),
        hosts_rule(allreduce, any, "hosts", 4 * kMiB),
        two_hosts_rule(reduce_scatter, 256 * kKiB, "push"),
        hosts_rule(reduce_scatter, 4 * kKiB, "push"),
        hosts_rule(reduce_scatter, any, "hosts", 4 * kMiB),
        two_hosts_rule(allgather, 256 * kKiB, "push"),
        hosts_rule(allgather, 4 * kKiB, "push"),
        hosts_rule(allgather, any, "hosts", 4 * kMiB),
        two_hosts_rule(broadcast, 256 * kKiB, "push"),
        hosts_rule(broadcast, 16 * kKiB, "push", 0, 1),
        hosts_rule(broadcast, 16 * kKiB, "leaders"),
        hosts_rule(broadcast, any, "hosts", 4 * kMiB),
        two_hosts_rule(all_to_all, 256 * kKiB, "push"),
        hosts_rule(all_to_all, 16 * kKiB, "push"),
        hosts_rule(all_to_all, any, "hosts", 4 * kMiB),
        hosts_rule(all_to_all_v, 64 * kKiB, "push"),
        hosts_rule(all_to_all_v, any, "hosts", 4 * kMiB),
        hosts_rule(allgather_v, 4 * kKiB, "push"),
        hosts_rule(allgather_v, any, "hosts", 4 * kMiB),
        hosts_rule(reduce_scatter_v, 4 * kKiB, "push"),
        hosts_rule(reduce_scatter_v, any, "hosts", 4 * kMiB),
        hosts_rule(reduce, 64 * kKiB, "push"),
        hosts_rule(reduce, any, "pipeline", 1 * kMiB),
        hosts_rule(gather, 64 * kKiB, "push"),
        hosts_rule(gather, any, "pipeline", 1 * kMiB),
        hosts_rule(scatter, 64 * kKiB, "push"),
        hosts_rule(scatter, any, "pipeline", 1 * kMiB),
        hosts_rule(scan, 64 * kKiB, "push"),
        hosts_rule(scan, any, "pipeline", 1 * kMiB),
        hosts_rule(exscan, 64 * kKiB, "push"),
        hosts_rule(exscan, any, "pipeline", 1 * kMiB),
        hosts_rule(barrier, any, "mesh", 0, 1),
        hosts_rule(barrier, any, "hosts"),
    };
}

}  // namespace

std::span<const Rule> rules() {
    static const std::vector<Rule> table = all_rules();
    return table;
}

std::vector<const Rule*> fitting(std::span<const Rule> rules, CollectiveKind kind, Where where,
                                 std::uint64_t bytes, int nranks, const Spread& spread) {
    std::vector<const Rule*> result;
    for (const Rule& rule : rules) {
        if (rule.kind == kind && rule.where == where && bytes <= rule.max_bytes &&
            nranks <= rule.max_ranks && spread.hosts <= rule.max_hosts &&
            spread.per_host <= rule.max_per_host) {
            result.push_back(&rule);
        }
    }
    return result;
}

Spread spread_of(std::span<const std::int64_t> hosts) {
    std::map<std::int64_t, int> ranks;
    for (const std::int64_t host : hosts) ++ranks[host];
    Spread spread;
    if (ranks.size() < 2) return spread;
    spread.hosts = static_cast<int>(ranks.size());
    for (const auto& [host, count] : ranks) spread.per_host = std::max(spread.per_host, count);
    return spread;
}

Placement carried_placement(const Rule& rule, Placement asked) {
    if (rule.reach) {
        return asked == Placement::separate ? Placement::into_window : Placement::window;
    }
    const bool is_staged =
        asked == Placement::window &&
        (rule.where == Where::hosts || !offers(rule.kind, rule.recipe, Placement::window));
    return is_staged ? Placement::in_place : asked;
}

bool may_reach(CollectiveKind kind, std::string_view recipe) {
    return !has_reduction(kind) && !has_lanes(kind, recipe) &&
           offers(kind, recipe, Placement::into_window);
}

}  // namespace peal::collectives
