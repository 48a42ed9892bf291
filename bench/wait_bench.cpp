// SPDX-License-Identifier: Apache-2.0
// What a rank that waits for a late peer takes of its core, against its limit; and what it costs to
// look whether another thread is in a call of the communicator.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "comm/under_way.hpp"
#include "cpu_time.hpp"
#include "peal/communicator.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using peal::bench::cpu_seconds;

struct Case {
    std::chrono::microseconds late;
    int calls;
    double most;  // share of a core; 0: no limit, only told
};

void measure(peal::Communicator& comm, const Case& wait) {
    comm.barrier();
    const double cpu = cpu_seconds();
    const auto begin = Clock::now();
    for (int call = 0; call < wait.calls; ++call) {
        if (comm.rank() == 1) std::this_thread::sleep_for(wait.late);
        comm.barrier();
    }
    const std::chrono::duration<double> took = Clock::now() - begin;
    if (comm.rank() != 0) return;
    const double share = (cpu_seconds() - cpu) / took.count();
    const bool holds = wait.most == 0 || share <= wait.most;
    fmt::print("waits of {:>7} us: {:>5.1f} % of a core  {}\n", wait.late.count(), 100 * share,
               wait.most == 0 ? ""
               : holds        ? "ok"
                              : fmt::format("MISSED (limit {:.0f} %)", 100 * wait.most));
    std::fflush(stdout);
}

// What `act` takes, in nanoseconds.
template <class Act>
double nanoseconds(int times, Act&& act) {
    const auto begin = Clock::now();
    for (int i = 0; i < times; ++i) act();
    const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    return took.count() / times;
}

void measure_looks(peal::Communicator& comm) {
    constexpr int kCalls = 100'000, kLooks = 100'000'000;
    comm.barrier();
    const double barrier = nanoseconds(kCalls, [&] { comm.barrier(); });
    if (comm.rank() != 0) return;
    const auto keep = [] { asm volatile("" ::: "memory"); };
    peal::comm::UnderWay under_way;
    const double nothing = nanoseconds(kLooks, keep);
    const double look = nanoseconds(kLooks, [&] {
        const peal::comm::Use use(under_way);
        keep();
    });
    fmt::print("a look for another thread: {:.1f} ns; a barrier of two ranks: {:.0f} ns\n",
               look - nothing, barrier);
}

}  // namespace

int main() {
    using std::chrono::microseconds;
    constexpr Case kCases[] = {{microseconds(1'000'000), 2, 0.03},
                               {microseconds(10'000), 100, 0},
                               {microseconds(1000), 500, 0},
                               {microseconds(100), 2000, 0}};
    peal::Communicator::fork(2, [&](peal::Communicator& comm) {
        measure_looks(comm);
        for (const Case& wait : kCases) measure(comm, wait);
    });
}
