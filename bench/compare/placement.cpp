// SPDX-License-Identifier: Apache-2.0
#include "placement.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

#include "spin.hpp"

namespace peal::bench {
namespace {

constexpr double kFarNs = 150;
constexpr int kGroups = 5;
constexpr std::uint64_t kRoundTrips = 60;
constexpr int kWakeUps = 100;
constexpr int kAttempts = 3;
// When other programs use the cores, both looking and waking can take long: then they are given up.
constexpr auto kTimeout = std::chrono::milliseconds(10);
constexpr double kUnknown = std::numeric_limits<double>::infinity();

using Clock = std::chrono::steady_clock;

enum Command : char { probe = 'p', wake = 'w', stop = 's' };

struct Pipe {
    Pipe() {
        if (pipe(ends.data()) != 0) std::abort();
    }
    ~Pipe() {
        close(ends[0]);
        close(ends[1]);
    }
    void put(char value) const {
        while (write(ends[1], &value, 1) != 1) {
        }
    }
    char get() const {
        char value = 0;
        while (read(ends[0], &value, 1) != 1) {
        }
        return value;
    }
    std::array<int, 2> ends{};
};

std::vector<int> allowed_cores() {
    cpu_set_t set;
    sched_getaffinity(0, sizeof(set), &set);
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &set)) cores.push_back(core);
    }
    return cores;
}

void stay_on(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

}  // namespace

std::string_view name(State state) {
    constexpr std::array<std::string_view, 3> kNames = {"near", "far", "mixed"};
    return kNames[static_cast<std::size_t>(state)];
}

// Two threads, each on a core of its own, asleep until they are asked.
struct Placement::Pair {
    Pair(int first_core, int second_core)
        : first([=, this] { live(first_core, 0); }), second([=, this] { live(second_core, 1); }) {}

    void live(int core, std::size_t side) {
        stay_on(core);
        for (;;) {
            switch (commands[side].get()) {
                case probe: measure(side); break;
                case wake: wake_each_other(side); break;
                default: return;
            }
            done.put('d');
        }
    }

    void measure(std::size_t side) {
        std::array<double, kGroups> groups{};
        for (double& group : groups) {
            const auto start = Clock::now();
            for (std::uint64_t trip = 0; trip < kRoundTrips; ++trip) pass(side);
            const std::chrono::duration<double, std::nano> took = Clock::now() - start;
            group = took.count() / static_cast<double>(2 * kRoundTrips);
        }
        std::nth_element(groups.begin(), groups.begin() + kGroups / 2, groups.end());
        if (side == 0) one_way_ns = given_up ? kUnknown : groups[kGroups / 2];
    }

    // Each waits for its parity and passes on. The release pairs with the other's acquire.
    void pass(std::size_t side) {
        std::uint64_t seen = ball.load(std::memory_order_acquire);
        for (unsigned spins = 0; seen % 2 != side; ++spins) {
            if (spins % 1024 == 1023 && Clock::now() > deadline) given_up = true;
            if (given_up.load(std::memory_order_relaxed)) return;
            spin_pause();
            seen = ball.load(std::memory_order_acquire);
        }
        ball.store(seen + 1, std::memory_order_release);
    }

    void wake_each_other(std::size_t side) {
        if (side == 1) {
            while (bells[1].get() == 'b') bells[0].put('b');
            return;
        }
        for (int i = 0; i < kWakeUps && Clock::now() < deadline; ++i) {
            bells[1].put('b');
            bells[0].get();
        }
        bells[1].put('e');
    }

    // Both are asleep before and after.
    void ask(Command command) {
        deadline = Clock::now() + kTimeout;
        given_up = false;
        ball = 0;
        for (const Pipe& pipe : commands) pipe.put(command);
        done.get();
        done.get();
    }

    alignas(64) std::atomic<std::uint64_t> ball = 0;
    alignas(64) std::atomic<bool> given_up = false;
    Clock::time_point deadline;
    double one_way_ns = 0;
    std::array<Pipe, 2> commands;
    std::array<Pipe, 2> bells;
    Pipe done;
    std::thread first;
    std::thread second;
};

Placement::Placement() {
    const std::vector<int> cores = allowed_cores();
    if (cores.size() >= 2) pair_ = std::make_unique<Pair>(cores[0], cores[1]);
}

Placement::~Placement() {
    if (!pair_) return;
    for (const Pipe& pipe : pair_->commands) pipe.put(stop);
    pair_->first.join();
    pair_->second.join();
}

double Placement::one_way_ns() {
    if (!pair_) return 0;
    pair_->ask(probe);
    return pair_->one_way_ns;
}

State Placement::look() {
    const double ns = one_way_ns();
    if (ns == kUnknown) return State::mixed;
    return ns < kFarNs ? State::near : State::far;
}

State Placement::bring_near() {
    State state = look();
    for (int attempt = 0; pair_ && state == State::far && attempt < kAttempts; ++attempt) {
        pair_->ask(wake);
        state = look();
    }
    return state;
}

}  // namespace peal::bench
