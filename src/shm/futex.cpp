// SPDX-License-Identifier: Apache-2.0
#include "shm/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/membarrier.h>
#include <climits>
#include <ctime>

namespace peal::shm {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen,
                std::chrono::nanoseconds limit) {
    constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
    timespec timeout = {};
    timeout.tv_sec = static_cast<time_t>(limit.count() / kNanosecondsPerSecond);
    timeout.tv_nsec = static_cast<long>(limit.count() % kNanosecondsPerSecond);
    syscall(SYS_futex, &word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool accept_foreign_fences() {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void fence_everybody() { syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0); }

}  // namespace peal::shm
