// SPDX-License-Identifier: Apache-2.0
#include "museum/plan_exhibits.hpp"

#include "check/recipes.hpp"

namespace peal::museum {
namespace {

using test::await_peers;
using test::everywhere;
using test::now;
using test::Plans;
using test::RankPlan;
using test::ring_peers;

constexpr std::uint64_t kCount = 16;
constexpr std::uint64_t kBlock = kCount * 4;  // bytes of a rank's share
constexpr std::uint64_t kHalf = kBlock / 2;

std::uint64_t block(int number) { return static_cast<std::uint64_t>(number) * kBlock; }

// `to` goes on when `from` has done what it was given so far.
void hand_over(RankPlan rank, Pipe from, Pipe to, std::uint8_t event = 0) {
    rank.set_flag(from, to, event).wait_flag(from, to, event);
}

// The buffers of an allgather by push.
struct Push {
    Plans plans;
    std::uint16_t input, output, data, signal;

    explicit Push(int nranks) : plans(nranks, "push_allgather") {
        input = plans.argument("input", Direction::in, kBlock);
        output = plans.argument("output", Direction::out, block(nranks));
        data = plans.window("data", block(nranks));
        signal = plans.signal("signal", static_cast<std::uint64_t>(nranks), 2);
    }

    // Everybody has come: peers may be written to. My own block is in place.
    void enter(int me) {
        RankPlan rank = plans.on(me);
        rank.copy(rank.in(data, block(me), kBlock), rank.in(input, 0, kBlock));
        ring_peers(rank, me, plans.nranks(), signal, now(1));
        await_peers(rank, me, plans.nranks(), signal, now(1));
    }
    void leave(int me) {
        RankPlan rank = plans.on(me);
        await_peers(rank, me, plans.nranks(), signal, now(2));
        rank.copy(rank.in(output, 0, block(plans.nranks())),
                  rank.in(data, 0, block(plans.nranks())));
    }
};

// The buffers of an allreduce in one phase.
struct Mesh {
    Plans plans;
    std::uint16_t input, output, data, signal;

    explicit Mesh(int nranks) : plans(nranks, "mesh_allreduce") {
        input = plans.argument("input", Direction::in, kBlock);
        output = plans.argument("output", Direction::out, kBlock);
        data = plans.window("data", kBlock);
        signal = plans.signal("signal", static_cast<std::uint64_t>(nranks), 2);
    }

    // All inputs are in the windows.
    void enter(int me) {
        RankPlan rank = plans.on(me);
        rank.copy(rank.in(data, 0, kBlock), rank.in(input, 0, kBlock));
        ring_peers(rank, me, plans.nranks(), signal, now(1));
        await_peers(rank, me, plans.nranks(), signal, now(1));
    }
};

// what: Two loads are issued back to back on the load pipe; the event pipeline is corrupted and
//       notifies never leave.
// where: ring allreduce, "v2"
// why: The device takes one vector load at a time: its flag is awaited before the next is issued.
Plans s4(int nranks, Form form) {
    Plans plans(nranks, "ring_reduce_scatter");
    const std::uint16_t input = plans.argument("input", Direction::in, block(nranks));
    const std::uint16_t output = plans.argument("output", Direction::out, kBlock);
    const std::uint16_t data = plans.window("data", block(nranks));
    const std::uint16_t signal = plans.signal("signal", static_cast<std::uint64_t>(nranks), nranks);
    plans.tile_bytes(2 * kBlock);
    for (int me = 0; me < nranks; ++me) {
        RankPlan rank = plans.on(me);
        const int left = (me + nranks - 1) % nranks;
        const int right = (me + 1) % nranks;
        const Range theirs = rank.tile(0, kBlock);
        const Range mine = rank.tile(kBlock, kBlock);
        rank.copy(rank.in(data, 0, block(nranks)), rank.in(input, 0, block(nranks)));
        for (int step = 0; step < nranks - 1; ++step) {
            rank.set(signal, right, static_cast<std::uint64_t>(me), now(step + 1));
            rank.wait(signal, static_cast<std::uint64_t>(left), now(step + 1));
            const std::uint64_t part = block((me + 2 * nranks - step - 2) % nranks);
            rank.copy(theirs, RankPlan::at(left, data, part, kBlock), Pipe::load);
            if (form == Form::mended) hand_over(rank, Pipe::load, Pipe::vector, 0);
            rank.copy(mine, rank.in(data, part, kBlock), Pipe::load);
            hand_over(rank, Pipe::load, Pipe::vector, 1);
            rank.reduce(mine, {theirs, mine}, ReduceOp::sum, Element::f32, Pipe::vector);
            hand_over(rank, Pipe::vector, Pipe::store);
            rank.copy(rank.in(data, part, kBlock), mine, Pipe::store).drain();
        }
        rank.copy(rank.in(output, 0, kBlock), rank.in(data, block(me), kBlock));
        ring_peers(rank, me, nranks, signal, now(nranks));
        await_peers(rank, me, nranks, signal, now(nranks));
    }
    return plans;
}

// what: Signal rows were packed to save memory, so that cells of several writers share a cache
//       line; barriers fail on the device.
// where: ring allreduce, "v2"
// why: A line is written back as a whole: who sets its cell also writes back its neighbours' old
//      values. Each writer has a line of its own.
Plans s6(int nranks, Form form) {
    constexpr std::uint64_t kPacked = 4;
    Plans plans(nranks, "round_barrier");
    const std::uint16_t signal = plans.signal("signal", static_cast<std::uint64_t>(nranks), 1,
                                              form == Form::mended ? kCacheLineBytes : kPacked);
    for (int me = 0; me < nranks; ++me) {
        ring_peers(plans.on(me), me, nranks, signal, now(1));
        await_peers(plans.on(me), me, nranks, signal, now(1));
    }
    return plans;
}

// what: The signal is raised while the stores of the data are still in flight.
// where: put, then notify
// why: The scalar unit does not wait for the store pipe by itself: drain it before the notify.
Plans u7(int nranks, Form form) {
    Push push(nranks);
    push.plans.tile_bytes(kBlock);
    for (int me = 0; me < nranks; ++me) {
        RankPlan rank = push.plans.on(me);
        push.enter(me);
        rank.copy(rank.tile(0, kBlock), rank.in(push.input, 0, kBlock), Pipe::load);
        hand_over(rank, Pipe::load, Pipe::store);
        for (int peer = 0; peer < nranks; ++peer) {
            if (peer == me) continue;
            rank.copy(RankPlan::at(peer, push.data, block(me), kBlock), rank.tile(0, kBlock),
                      Pipe::store);
        }
        if (form == Form::mended) rank.drain();
        ring_peers(rank, me, nranks, push.signal, now(2));
        push.leave(me);
    }
    return std::move(push.plans);
}

// what: "I have read you" is raised before the loads have finished; the peer writes its next input
//       under them.
// where: mesh allreduce
// why: As U7, for the load pipe: what has been issued has not been done.
Plans u8(int nranks, Form form) {
    Mesh mesh(nranks);
    mesh.plans.tile_bytes(block(nranks));
    for (int me = 0; me < nranks; ++me) {
        RankPlan rank = mesh.plans.on(me);
        mesh.enter(me);
        std::vector<Range> tiles;
        for (int peer = 0; peer < nranks; ++peer) {
            tiles.push_back(rank.tile(block(peer), kBlock));
            rank.copy(tiles.back(), RankPlan::at(peer, mesh.data, 0, kBlock), Pipe::load);
        }
        if (form == Form::mended) rank.drain();
        ring_peers(rank, me, nranks, mesh.signal, now(2));
        hand_over(rank, Pipe::load, Pipe::vector);
        rank.reduce(tiles[0], tiles, ReduceOp::sum, Element::f32, Pipe::vector);
        hand_over(rank, Pipe::vector, Pipe::store);
        rank.copy(rank.in(mesh.output, 0, kBlock), tiles[0], Pipe::store);
        await_peers(rank, me, nranks, mesh.signal, now(2));
    }
    return std::move(mesh.plans);
}

// Two groups of threads, each with half of the data, are two lanes. The first one meets the peers,
// lets the other begin, and hears when that has done its half.
class Threads {
public:
    explicit Threads(Plans& plans) : plans_(plans), lanes_(plans.signal("lanes", 2, 1)) {}

    void let_others_begin(int me) { plans_.on(me).set(lanes_, me, 0, now(1)); }
    void await_others(int me) { plans_.on(me).wait(lanes_, 1, now(1)); }
    // What the others do comes between the two.
    RankPlan others(int me) { return plans_.next_lane(me).wait(lanes_, 0, now(1)); }
    void others_are_done(int me) { plans_.on(me).set(lanes_, me, 1, now(1)); }

private:
    Plans& plans_;
    std::uint16_t lanes_;
};

// Half of my block, to all.
void push_half(Push& push, int me, std::uint64_t offset) {
    RankPlan rank = push.plans.on(me);
    for (int peer = 0; peer < push.plans.nranks(); ++peer) {
        if (peer == me) continue;
        rank.copy(RankPlan::at(peer, push.data, block(me) + offset, kHalf),
                  rank.in(push.input, offset, kHalf));
    }
}

// what: One thread signals for all when its own writes are done; those of other threads are not.
// where: a GPU collective stack
// why: Before one speaks for all, all have to meet.
Plans g6(int nranks, Form form) {
    Push push(nranks);
    Threads threads(push.plans);
    for (int me = 0; me < nranks; ++me) {
        push.enter(me);
        threads.let_others_begin(me);
        push_half(push, me, 0);
        if (form == Form::mended) threads.await_others(me);
        ring_peers(push.plans.on(me), me, nranks, push.signal, now(2));
        push.leave(me);
        threads.others(me);
        push_half(push, me, kHalf);
        threads.others_are_done(me);
    }
    return std::move(push.plans);
}

// what: One thread says that the buffer has been read; other threads still read it when it is
//       written again.
// where: the same stack
// why: As above, for reads.
Plans g6_reads(int nranks, Form form) {
    Mesh mesh(nranks);
    Threads threads(mesh.plans);
    const auto combine = [&](RankPlan rank, std::uint64_t offset) {
        rank.reduce(rank.in(mesh.output, offset, kHalf),
                    everywhere(nranks, mesh.data, offset, kHalf));
    };
    for (int me = 0; me < nranks; ++me) {
        RankPlan rank = mesh.plans.on(me);
        mesh.enter(me);
        threads.let_others_begin(me);
        combine(rank, 0);
        if (form == Form::mended) threads.await_others(me);
        ring_peers(rank, me, nranks, mesh.signal, now(2));
        await_peers(rank, me, nranks, mesh.signal, now(2));
        combine(threads.others(me), kHalf);
        threads.others_are_done(me);
    }
    return std::move(mesh.plans);
}

// what: The notify is emitted on both lanes of a kernel; the barrier opens at the first, while the
//       other lane still stores.
// where: mixed kernels
// why: Each lane speaks for itself only. One notify, when both are done.
Plans u13(int nranks, Form form) {
    Push push(nranks);
    Threads threads(push.plans);
    for (int me = 0; me < nranks; ++me) {
        push.enter(me);
        threads.let_others_begin(me);
        push_half(push, me, 0);
        if (form == Form::mended) threads.await_others(me);
        ring_peers(push.plans.on(me), me, nranks, push.signal, now(2));
        push.leave(me);
        threads.others(me);
        push_half(push, me, kHalf);
        if (form == Form::broken) ring_peers(push.plans.on(me), me, nranks, push.signal, now(2));
        threads.others_are_done(me);
    }
    return std::move(push.plans);
}

// what: Data is put into the peers' memory over a network that completes puts when it is asked to;
//       the signal arrives first.
// where: put, then notify, between hosts
// why: A put is complete when it has been flushed: flush before the notify.
Plans u16(int nranks, Form form) {
    constexpr std::uint16_t kPuts = 1;
    Push push(nranks);
    for (int me = 0; me < nranks; ++me) {
        RankPlan rank = push.plans.on(me);
        push.enter(me);
        for (int peer = 0; peer < nranks; ++peer) {
            if (peer == me) continue;
            rank.copy(RankPlan::at(peer, push.data, block(me), kBlock),
                      rank.in(push.input, 0, kBlock));
            rank.deferred(kPuts);
        }
        if (form == Form::mended) rank.fence(kPuts);
        ring_peers(rank, me, nranks, push.signal, now(2));
        push.leave(me);
    }
    return std::move(push.plans);
}

}  // namespace

const std::vector<PlanExhibit>& plan_exhibits() {
    using enum ViolationKind;
    using enum CollectiveKind;
    static const std::vector<PlanExhibit> exhibits = {
        {"S4", pipe_hazard, reduce_scatter, kCount, {2, 3}, DeviceRules::a2a3(), s4},
        {"S6", data_race, barrier, 0, {3, 4}, {}, s6},
        {"U7", data_race, allgather, kCount, {2, 3}, DeviceRules::a2a3(), u7},
        {"U8", data_race, allreduce, kCount, {2, 3}, DeviceRules::a5(), u8},
        {"U13", data_race, allgather, kCount, {2, 3}, {}, u13},
        {"U16", data_race, allgather, kCount, {2, 3}, {}, u16},
        {"G6", data_race, allgather, kCount, {2, 3}, {}, g6},
        {"G6_reads", data_race, allreduce, kCount, {2, 3}, {}, g6_reads},
    };
    return exhibits;
}

}  // namespace peal::museum
