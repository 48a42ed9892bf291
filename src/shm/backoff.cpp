// SPDX-License-Identifier: Apache-2.0
#include "shm/backoff.hpp"

#include <sched.h>

#include <algorithm>

#include "shm/fence.hpp"
#include "shm/futex.hpp"
#include "shm/spread.hpp"

namespace peal::shm {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

// Short: longer than a hand-over between cores takes, and little lost when the peer is not running
// because it waits for this very core.
constexpr microseconds kSpin{10};
// Yielding hands the core to a peer that shares it. Where every rank could have a core it is soon
// over: two ranks that have come to share one are parted only when one of them sleeps and is woken.
constexpr microseconds kYield{10};
constexpr microseconds kYieldWhenCrowded{100};

}  // namespace

void Backoff::pause_longer() {
    const Clock::time_point now = Clock::now();
    if (start_ == Clock::time_point{}) start_ = now;
    late_ = now >= deadline_;
    const Clock::duration spin = spinning_ ? kSpin : microseconds::zero();
    if (now - start_ < spin) {
        spins_left_ = kSpinsPerLookAtTheClock;
    } else if (now - start_ < spin + (spinning_ ? kYield : kYieldWhenCrowded)) {
        if (!spinning_) spread_out(world_, rank_);
        sched_yield();
    } else if (!armed_) {
        arm();
    } else {
        sleep(now);
    }
}

void Backoff::arm() {
    RankRecord& record = world_.header().ranks[rank_];
    bell_ = record.bell.load(std::memory_order_relaxed);
    // Pairs with the exchange in ring_if_asleep(), where notifiers fence.
    record.sleeping.exchange(1, std::memory_order_acq_rel);
    fence_everybody();
    armed_ = true;
}

void Backoff::sleep(Clock::time_point now) {
    armed_ = false;
    const nanoseconds limit = std::min<nanoseconds>(kNap, deadline_ - now);
    if (limit > nanoseconds::zero()) {
        futex_wait(world_.header().ranks[rank_].bell, bell_, limit);
    }
}

}  // namespace peal::shm
