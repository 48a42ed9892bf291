// SPDX-License-Identifier: Apache-2.0
// How long after a rank's death the others have their error: `make bench-death`. On a machine that
// does nothing else, and beside processes that want every core. The last row is about the system
// alone: how late a process is that wakes up every millisecond beside the same company.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "noise.hpp"
#include "peal/communicator.hpp"
#include "peal/error.hpp"

namespace peal {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int kRanks = 4;
constexpr double kIdleLimit = 100;

// Where ranks note the time; the clock is the same in all processes.
struct Notes {
    std::atomic<Clock::rep> died = 0;
    std::atomic<Clock::rep> told[kRanks] = {};
};

Clock::rep now() { return Clock::now().time_since_epoch().count(); }

// The victim dies in a call, after some; the others note when they have their error.
void live_and_die(Communicator& comm, int victim, int calls, Notes& notes) {
    std::vector<float> data(256, 1);
    try {
        for (int call = 0; comm.rank() != victim || call < calls; ++call) comm.allreduce(data);
        notes.died = now();
        std::raise(SIGKILL);
    } catch (const Error&) {
        notes.told[comm.rank()] = now();
    }
}

// Of the survivor that was told last.
double milliseconds_to_the_last(int trial, Notes& notes) {
    new (&notes) Notes;
    const int victim = trial % kRanks;
    Communicator::fork(kRanks, [&](Communicator& comm) {
        live_and_die(comm, victim, 50 + 13 * (trial % 7), notes);
    });
    Clock::rep last = notes.died;
    for (const auto& told : notes.told) last = std::max<Clock::rep>(last, told);
    return Milliseconds(Clock::duration(last - notes.died)).count();
}

void print_row(std::string_view what, std::vector<double> times, std::string_view remark) {
    std::sort(times.begin(), times.end());
    const auto at = [&](std::size_t percent) { return times[(times.size() - 1) * percent / 100]; };
    fmt::print("{:<52} median {:>7.2f} ms  99% {:>7.2f} ms  most {:>7.2f} ms  {}\n", what, at(50),
               at(99), times.back(), remark);
    std::fflush(stdout);
}

void death_to_error(int company, int trials, Notes& notes) {
    const bench::Noise busy(company, false);
    std::vector<double> times;
    for (int trial = 0; trial < trials; ++trial) {
        times.push_back(milliseconds_to_the_last(trial, notes));
    }
    const double most = *std::max_element(times.begin(), times.end());
    const char* const verdict = most <= kIdleLimit ? "(limit 100 ms) ok" : "(limit 100 ms) MISSED";
    print_row(fmt::format("death to error, {} ranks, {} busy processes", kRanks, company),
              std::move(times), company == 0 ? verdict : "");
}

void lateness(int company, int naps) {
    const bench::Noise busy(company, false);
    std::vector<double> late;
    for (int nap = 0; nap < naps; ++nap) {
        const Clock::time_point due = Clock::now() + std::chrono::milliseconds(1);
        std::this_thread::sleep_until(due);
        late.push_back(Milliseconds(Clock::now() - due).count());
    }
    print_row(fmt::format("a sleeper wakes up, {} busy processes", company), std::move(late), "");
}

int run(int trials) {
    void* const page =
        mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return 2;
    Notes& notes = *static_cast<Notes*>(page);
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    for (const int per_core : {0, 1, 8}) death_to_error(per_core * cores, trials, notes);
    lateness(8 * cores, 10 * trials);
    return 0;
}

}  // namespace
}  // namespace peal

// bench_death [trials]
int main(int argc, char** argv) { return peal::run(argc > 1 ? std::atoi(argv[1]) : 30); }
