// SPDX-License-Identifier: Apache-2.0
#include "engine/crew.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

#include "base/thread.hpp"

namespace peal::engine {
namespace {

// About what it costs to fall asleep and be woken.
constexpr std::chrono::microseconds kSpinTime{20};

void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

template <class Condition>
bool spin_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + kSpinTime;
    do {
        if (condition()) return true;
        pause();
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

}  // namespace

Crew::Crew(std::size_t threads) : threads_wanted_(threads) {}

Crew::~Crew() {
    dismissed_ = true;
    ring();
    for (std::thread& helper : helpers_) helper.join();
}

RunEnd Crew::run(std::span<Core> cores, bool with_helpers) {
    open(cores, with_helpers);
    bool stuck = false;
    while (!is_over() && !stuck) {
        const std::uint64_t heard = bell_.load();
        if (!pass(0)) stuck = !rest(heard);
    }
    close();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return stuck ? RunEnd::stuck : RunEnd::finished;
}

void Crew::open(std::span<Core> cores, bool with_helpers) {
    cores_ = cores;
    with_helpers_ = with_helpers && threads_wanted_ > 1 && cores.size() > 1;
    unfinished_ = cores.size();
    failed_ = false;
    if (state_count_ < cores.size()) {
        states_ = std::make_unique<PaddedState[]>(cores.size());
        state_count_ = cores.size();
    }
    for (std::size_t number = 0; number < cores.size(); ++number) {
        states_[number].state.store(CoreState::free, std::memory_order_relaxed);
    }
    if (!with_helpers_) return;
    start_helpers();
    {
        const std::lock_guard lock(mutex_);
        open_ = true;
    }
    ring();
}

void Crew::close() {
    if (!with_helpers_) return;
    {
        const std::lock_guard lock(mutex_);
        open_ = false;
    }
    await([this] { return inside_.load() == 0; });
}

bool Crew::is_over() const { return unfinished_.load() == 0 || failed_.load(); }

// ---------------------------------------------------------------------------- helpers

void Crew::start_helpers() {
    while (helpers_.size() + 1 < std::min(threads_wanted_, cores_.size())) {
        const std::size_t place = helpers_.size() + 1;
        helpers_.push_back(base::start_thread(
            fmt::format("thread {} of {} of the engine", place + 1, threads_wanted_),
            [this, place] { help(place); }));
    }
}

void Crew::help(std::size_t place) {
    std::uint64_t heard = 0;
    while (enter(heard)) {
        // Threads begin at different cores, to meet as late as possible.
        while (pass(place * cores_.size() / threads_wanted_)) heard = bell_.load();
        leave();
    }
}

// Waits for the bell to ring past `heard`, then enters the run there is. False when dismissed.
bool Crew::enter(std::uint64_t& heard) {
    for (;;) {
        await([&] { return bell_.load() != heard || dismissed_.load(); });
        const std::lock_guard lock(mutex_);
        if (dismissed_) return false;
        heard = bell_.load();
        if (!open_) continue;
        ++inside_;
        return true;
    }
}

void Crew::leave() {
    const std::lock_guard lock(mutex_);
    if (--inside_ == 0) changed_.notify_all();
}

// ---------------------------------------------------------------------------- carrying cores

// Whether any core moved.
bool Crew::pass(std::size_t first) {
    bool moved = false;
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        if (failed_.load(std::memory_order_relaxed)) return false;
        const std::size_t number = (first + i) % cores_.size();
        if (claim(number)) moved |= carry(number);
    }
    return moved;
}

// Acquire: pairs with the release in carry(), by which the last holder hands the core on.
bool Crew::claim(std::size_t number) {
    std::atomic<CoreState>& state = states_[number].state;
    CoreState expected = CoreState::free;
    return state.load(std::memory_order_relaxed) == CoreState::free &&
           state.compare_exchange_strong(expected, CoreState::held, std::memory_order_acquire,
                                         std::memory_order_relaxed);
}

// A core that has to wait is set aside. The bell rings once after a row of notifies, and before the
// work that follows them.
struct Crew::Carrier : PlainSupplier {
    explicit Carrier(Crew& crew) : crew(crew) {}
    static bool wait(const Core&) { return false; }
    void rang(const Core& core) {
        if (crew.with_helpers_ && !core.is_about_to_ring()) crew.ring();
    }
    Crew& crew;
};

// Carries a claimed core until it has to wait; whether it moved.
bool Crew::carry(std::size_t number) try {
    Core& core = cores_[number];
    const std::size_t before = core.position();
    Carrier carrier(*this);
    if (drive(core, carrier) == Driven::done) {
        states_[number].state.store(CoreState::done, std::memory_order_release);
        unfinished_.fetch_sub(1);
        return true;
    }
    const bool moved = core.position() != before;
    assert(!core.is_streaming());
    states_[number].state.store(CoreState::free, std::memory_order_release);
    return moved;
} catch (...) {
    fail(std::current_exception());
    return false;
}

// The core that failed stays held: nobody touches it again in this run.
void Crew::fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    failed_ = true;
}

// ---------------------------------------------------------------------------- resting

// For the caller, after a pass that moved nothing. False: no rank can ever go on.
bool Crew::rest(std::uint64_t heard) {
    {
        const std::lock_guard lock(mutex_);
        if (inside_ == 0) return is_over() || any_can_go_on();
    }
    await([&] { return bell_.load() != heard || inside_.load() == 0; });
    return true;
}

// Only while nobody else holds a core.
bool Crew::any_can_go_on() const {
    return std::any_of(cores_.begin(), cores_.end(),
                       [](const Core& core) { return !core.is_done() && !core.is_blocked(); });
}

// A sleeper counts itself before it looks at the bell a last time; here the bell moves before
// the sleepers are counted. All four are sequentially consistent, so one of the two sees the other.
void Crew::ring() {
    bell_.fetch_add(1);
    if (sleepers_.load() == 0) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
}

template <class Condition>
void Crew::await(Condition condition) {
    if (spin_until(condition)) return;
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    changed_.wait(lock, condition);
    sleepers_.fetch_sub(1);
}

}  // namespace peal::engine
