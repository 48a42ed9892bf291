// SPDX-License-Identifier: Apache-2.0
#include "meeting.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "spin.hpp"

namespace peal::bench {
namespace {

constexpr int kSpinsWithCore = 20000;
constexpr int kSpinsWithout = 50;

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

void make_hall(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(Hall)) != 0) fail(path);
    close(file);
}

Meeting::Meeting(const std::string& path, int nranks)
    : nranks_(static_cast<std::uint32_t>(nranks)),
      spins_(nranks <= sysconf(_SC_NPROCESSORS_ONLN) ? kSpinsWithCore : kSpinsWithout) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) fail(path);
    void* memory = mmap(nullptr, sizeof(Hall), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) fail(path);
    hall_ = static_cast<Hall*>(memory);
}

Meeting::~Meeting() { munmap(hall_, sizeof(Hall)); }

void Meeting::meet() {
    // The release of the last arrival's `round` pairs with the acquire below; the other arrivals
    // reach it through their release in `arrived`, which the last one acquires.
    const std::uint32_t round = hall_->round.load(std::memory_order_relaxed);
    if (hall_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == nranks_) {
        hall_->arrived.store(0, std::memory_order_relaxed);
        hall_->round.store(round + 1, std::memory_order_release);
        return;
    }
    for (int spun = 0; hall_->round.load(std::memory_order_acquire) == round; ++spun) {
        if (spun < spins_) {
            spin_pause();
        } else {
            sched_yield();
        }
    }
}

std::uint64_t Meeting::meet_and_tell(int rank, std::uint64_t notice) {
    std::uint64_t& place = hall_->notice[told_++ % 2];
    if (rank == 0) place = notice;
    meet();
    return place;
}

}  // namespace peal::bench
