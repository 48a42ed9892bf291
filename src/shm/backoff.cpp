// SPDX-License-Identifier: Apache-2.0
#include "shm/backoff.hpp"

#include <sched.h>

#include <algorithm>

#include "shm/futex.hpp"

namespace peal::shm {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Short: longer than a hand-over between cores takes, and little lost when the peer is not running.
constexpr microseconds kSpin{10};
constexpr microseconds kYield{100};

// Whether this thread yields, or sleeps at once: strangers show by yields that take long. It asks
// again after a while, after longer each time that it finds them still there.
class Yields {
public:
    bool pay(Clock::time_point now) const { return now >= distrusted_until_; }

    void yield(Clock::time_point now) {
        sched_yield();
        const Clock::time_point back = Clock::now();
        if (back - now < kLong) return;
        const bool is_again = now - distrusted_until_ < span_;
        span_ = is_again ? std::min(2 * span_, kLongest) : kShortest;
        distrusted_until_ = back + span_;
    }

private:
    static constexpr Clock::duration kLong = microseconds(500);
    static constexpr Clock::duration kShortest = milliseconds(1);
    static constexpr Clock::duration kLongest = milliseconds(200);

    Clock::time_point distrusted_until_{};
    Clock::duration span_{};
};

thread_local Yields yields;

}  // namespace

void Backoff::pause_longer() {
    const Clock::time_point now = Clock::now();
    const bool is_first = start_ == Clock::time_point{};
    if (is_first) start_ = now;
    late_ = now >= deadline_;
    if (spinning_ && is_first) spinning_ = part(world_, rank_);
    if (spinning_) {
        pause_alone(now);
    } else {
        pause_in_a_crowd(now);
    }
}

void Backoff::pause_alone(Clock::time_point now) {
    if (now - start_ < kSpin) {
        spins_left_ = kSpinsPerLookAtTheClock;
    } else {
        arm_or_sleep(now);
    }
}

void Backoff::pause_in_a_crowd(Clock::time_point now) {
    if (now - start_ < kYield && yields.pay(now)) {
        spread_out(world_, rank_, partner_);
        yields.yield(now);
    } else {
        arm_or_sleep(now);
    }
}

void Backoff::arm_or_sleep(Clock::time_point now) {
    if (armed_) {
        sleep(now);
    } else {
        arm();
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
