// SPDX-License-Identifier: Apache-2.0
// Waiting politely: spin, then sleep, where every rank may have a core; yield, then sleep, where
// ranks outnumber cores.
//
// Strangers want the cores as well, and two things would hand them whole time slices. The scheduler
// pushes two ranks onto one core, away from a stranger: a rank that finds another on its core moves
// to one without (spread.hpp). A yield gives the core to whoever waits longest: where every rank
// may have a core nobody yields, and in a crowd a yield that took long is followed by sleeping for
// some time, since a sleeper is back as soon as it is rung.
//
// Sleeping and notifying never miss each other. The sleeper: sets `sleeping`, makes everybody
// fence, looks again, sleeps. The notifier: stores its signal, loads `sleeping`. If that load came
// before the sleeper's fence, so did the store, and the sleeper's second look sees the signal; if
// after, the load sees `sleeping`, and the notifier rings. The notifier itself needs no fence.
//
// Where the system cannot fence others, `sleeping` is exchanged on both sides: of the two exchanges
// the later one reads what the earlier one wrote, and with it all that came before.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "shm/spread.hpp"
#include "shm/world.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace peal::shm {

enum class Waited { ready, alarm, deadline };

using Clock = std::chrono::steady_clock;
inline constexpr Clock::time_point kNoDeadline = Clock::time_point::max();

// Tells the core that this is a loop that waits.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

// Brings a line here to be written, in the background. Whoever will store to a line that a peer has
// read then need not wait for the peer to give it up.
inline void own_soon(const std::byte* line) {
#if defined(__x86_64__) || defined(__i386__)
    asm volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
}

// Call it after the store (release) that `rank` may be waiting for.
inline void ring_if_asleep(World& world, int rank) {
    std::atomic<std::uint32_t>& sleeping = world.header().ranks[rank].sleeping;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the load stays behind the store
    const bool fenced_by_sleeper = !world.header().notifiers_fence.load(std::memory_order_relaxed);
    if (fenced_by_sleeper && sleeping.load(std::memory_order_relaxed) == 0) [[likely]]
        return;
    // One of several notifiers rings. Pairs with the exchange in Backoff::arm().
    if (sleeping.exchange(0, std::memory_order_acq_rel) != 0) world.wake(rank);
}

// Spinning pays while every rank can have a core for itself.
inline bool spinning_pays(const World& world) {
    return world.header().ranks_here.load(std::memory_order_relaxed) <= world.header().cores;
}

// One wait of one rank:
//
//     Backoff backoff(world, rank);
//     while (!ready()) backoff.pause();
//
// `ready` loads with acquire what the notifiers store. Whoever notifies calls ring_if_asleep().
class Backoff {
public:
    Backoff(World& world, int rank, bool spinning, int partner = kNoPartner)
        : world_(world), rank_(rank), partner_(partner), spinning_(spinning) {}
    Backoff(World& world, int rank) : Backoff(world, rank, spinning_pays(world)) {}

    // Returns after a moment: at once at first, later when the rank is rung, and in any case after
    // kNap. Never sleeps before the caller has looked once more after `sleeping` was set.
    void pause() {
        if (spins_left_ > 0) [[likely]] {
            --spins_left_;
            relax();
        } else {
            pause_longer();
        }
    }

    // Pauses until `ready()`, the alarm or the deadline. Ready wins, then the alarm.
    template <class Ready>
    Waited wait_until(Ready&& ready, Clock::time_point deadline = kNoDeadline) {
        deadline_ = deadline;
        while (!ready()) {
            // The second look: what the failed rank did before it failed counts.
            if (world_.failed_rank() >= 0) return ready() ? Waited::ready : Waited::alarm;
            if (late_) return Waited::deadline;
            pause();
        }
        return Waited::ready;
    }

    static constexpr std::chrono::milliseconds kNap{10};

private:
    static constexpr int kSpinsPerLookAtTheClock = 32;

    void pause_longer();
    void pause_alone(Clock::time_point now);
    void pause_in_a_crowd(Clock::time_point now);
    void arm_or_sleep(Clock::time_point now);
    void arm();
    void sleep(Clock::time_point now);

    World& world_;
    int rank_;
    int partner_;  // the one rank that it waits for, if it is one
    bool spinning_;
    bool armed_ = false;
    bool late_ = false;
    // In a crowd the peer may be waiting for this very core.
    int spins_left_ = spinning_ ? kSpinsPerLookAtTheClock : 0;
    std::uint32_t bell_ = 0;  // as it was when armed
    Clock::time_point start_{};
    Clock::time_point deadline_ = kNoDeadline;
};

// The wait of one rank, from its first spin.
template <class Ready>
Waited wait_until(World& world, int rank, Ready&& ready, Clock::time_point deadline = kNoDeadline,
                  int partner = kNoPartner) {
    return Backoff(world, rank, spinning_pays(world), partner).wait_until(ready, deadline);
}

}  // namespace peal::shm
