// SPDX-License-Identifier: Apache-2.0
// The threads that carry ranks. The caller of run() always works; helpers, kept alive between runs,
// join it.
//
// Ranks belong to no thread, nor do their lanes, each of which is a core here. Each thread makes
// passes: in a pass it tries to claim every core that nobody else holds, and carries each one it
// got until that core has to wait. So a helper that wakes up late costs nothing, and uneven ranks
// balance themselves.
//
// Waking. `bell_` counts whatever may let a rank go on: notifies, and the start of a run. A thread
// whose pass moved nothing rests until the bell differs from what it was before that pass. Resting
// is a short spin, then sleep.
//
// Deadlock. Only ranks change signals, and only a thread inside a run carries ranks. A helper
// enters and leaves under `mutex_`. When the caller has nothing to do it takes the mutex; if no
// helper is inside, nobody else holds a rank and nobody can come in. If then no rank can take its
// next step, no signal will ever change again, so none ever can: the run is stuck. If a helper is
// inside, the caller rests until the bell rings or the last helper has left, and looks again;
// helpers leave after a pass that moved nothing, so one of the two happens. No timer, and no missed
// wake-up can turn into a false alarm, because the caller looks at the signals themselves.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "engine/contract.hpp"

namespace peal::engine {

enum class RunEnd : std::uint8_t { finished, stuck };

class Crew {
public:
    // `threads` counts the caller. Helpers start with the first run that wants them, and no more
    // of them than there are other cores to carry.
    explicit Crew(std::size_t threads);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    // Carries all cores to their end, or until none can go on. What a core throws is thrown here,
    // after all threads have let go of the cores. One run at a time.
    RunEnd run(std::span<Core> cores, bool with_helpers);

private:
    enum class CoreState : std::uint8_t { free, held, done };
    struct Carrier;
    struct alignas(kCacheLineBytes) PaddedState {
        std::atomic<CoreState> state = CoreState::free;
    };

    void open(std::span<Core> cores, bool with_helpers);
    void close();
    bool is_over() const;
    void start_helpers();
    void help(std::size_t place);
    bool enter(std::uint64_t& heard);
    void leave();

    bool pass(std::size_t first);
    bool claim(std::size_t number);
    bool carry(std::size_t number);
    void fail(std::exception_ptr error);
    bool rest(std::uint64_t heard);
    bool any_can_go_on() const;

    void ring();
    template <class Condition>
    void await(Condition condition);

    const std::size_t threads_wanted_;
    std::unique_ptr<PaddedState[]> states_;
    std::size_t state_count_ = 0;
    std::vector<std::thread> helpers_;

    // Set while no helper is inside, so plain for those who are.
    std::span<Core> cores_;
    bool with_helpers_ = false;

    std::atomic<std::size_t> unfinished_ = 0;
    std::atomic<bool> failed_ = false;
    std::exception_ptr error_;  // the first; guarded by mutex_

    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<std::uint64_t> bell_ = 0;
    std::atomic<std::size_t> inside_ = 0;  // helpers in the run; changes under mutex_
    bool open_ = false;                    // helpers may enter; guarded by mutex_
    std::atomic<bool> dismissed_ = false;
    std::atomic<std::size_t> sleepers_ = 0;
};

}  // namespace peal::engine
