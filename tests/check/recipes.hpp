// SPDX-License-Identifier: Apache-2.0
// Collectives as plans written by hand: right ones, to prove and to break.
#pragma once

#include "check/plans.hpp"
#include "peal/collective.hpp"

namespace peal::test {

// One cell per peer: rank r rings cell r of everybody else.
inline void ring_peers(RankPlan rank, int me, int nranks, std::uint16_t signal, Value value,
                       NotifyOp op = NotifyOp::set) {
    for (int peer = 0; peer < nranks; ++peer) {
        if (peer == me) continue;
        const auto cell = static_cast<std::uint64_t>(me);
        if (op == NotifyOp::set) {
            rank.set(signal, peer, cell, value);
        } else {
            rank.increase(signal, peer, cell, value);
        }
    }
}
inline void await_peers(RankPlan rank, int me, int nranks, std::uint16_t signal, Value value,
                        Compare compare = Compare::ge) {
    for (int peer = 0; peer < nranks; ++peer) {
        if (peer != me) rank.wait(signal, static_cast<std::uint64_t>(peer), compare, value);
    }
}

// All ranks' windows, in rank order.
inline std::vector<Range> everywhere(int nranks, std::uint16_t window, std::uint64_t offset,
                                     std::uint64_t bytes) {
    std::vector<Range> all;
    for (int rank = 0; rank < nranks; ++rank) all.push_back({window, rank, offset, bytes});
    return all;
}

// From `input` to `output` by way of the window: stage, meet, add up in rank order, meet.
inline Plans mesh_allreduce(int nranks, std::uint64_t bytes) {
    Plans plans(nranks, "mesh_allreduce");
    const std::uint16_t input = plans.argument("input", Direction::in, bytes);
    const std::uint16_t output = plans.argument("output", Direction::out, bytes);
    const std::uint16_t data = plans.window("data", bytes);
    const std::uint16_t signal = plans.signal("signal", static_cast<std::uint64_t>(nranks), 2);
    for (int me = 0; me < nranks; ++me) {
        RankPlan rank = plans.on(me);
        rank.copy(rank.in(data, 0, bytes), rank.in(input, 0, bytes));
        ring_peers(rank, me, nranks, signal, now(1));
        await_peers(rank, me, nranks, signal, now(1));
        rank.reduce(rank.in(output, 0, bytes), everywhere(nranks, data, 0, bytes));
        ring_peers(rank, me, nranks, signal, now(2));
        await_peers(rank, me, nranks, signal, now(2));
    }
    return plans;
}

// In place on a window of nranks parts: reduce-scatter, then allgather, round the ring. Each rank
// tells its right neighbour how far it is, and at the end its left one that it has read all.
inline Plans ring_allreduce(int nranks, std::uint64_t part_bytes) {
    Plans plans(nranks, "ring_allreduce");
    const auto parts = static_cast<std::uint64_t>(nranks);
    const std::uint16_t data = plans.window("data", parts * part_bytes);
    const std::uint16_t signal = plans.signal("signal", 2, 2 * nranks - 1);
    for (int me = 0; me < nranks && nranks > 1; ++me) {
        const int left = (me + nranks - 1) % nranks;
        const int right = (me + 1) % nranks;
        RankPlan rank = plans.on(me);
        for (int step = 0; step < 2 * (nranks - 1); ++step) {
            rank.set(signal, right, 0, now(step + 1)).wait(signal, 0, now(step + 1));
            const bool adds = step < nranks - 1;
            const int behind = adds ? step + 2 : step - (nranks - 1) + 1;
            const std::uint64_t part =
                static_cast<std::uint64_t>((me + 2 * nranks - behind) % nranks) * part_bytes;
            const Range mine = rank.in(data, part, part_bytes);
            const Range theirs = RankPlan::at(left, data, part, part_bytes);
            if (adds) {
                rank.reduce(mine, {theirs, mine});
            } else {
                rank.copy(mine, theirs);
            }
        }
        rank.set(signal, left, 1, now(2 * nranks - 1)).wait(signal, 1, now(2 * nranks - 1));
    }
    return plans;
}

inline Plans mesh_barrier(int nranks, NotifyOp op, Value notified, Compare compare, Value awaited,
                          std::int64_t advance) {
    Plans plans(nranks, "mesh_barrier");
    const std::uint16_t signal =
        plans.signal("signal", static_cast<std::uint64_t>(nranks), advance);
    for (int me = 0; me < nranks; ++me) {
        ring_peers(plans.on(me), me, nranks, signal, notified, op);
        await_peers(plans.on(me), me, nranks, signal, awaited, compare);
    }
    return plans;
}

inline Meaning allreduce_meaning(const Plans& plans, std::uint64_t bytes, bool on_window) {
    Collective collective;
    collective.count = bytes / 4;
    if (on_window) collective.placement = Placement::window;
    return meaning_of(collective, plans.list());
}

inline Meaning barrier_meaning(const Plans& plans) {
    Collective collective;
    collective.kind = CollectiveKind::barrier;
    return meaning_of(collective, plans.list());
}

}  // namespace peal::test
