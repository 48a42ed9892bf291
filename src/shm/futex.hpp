// SPDX-License-Identifier: Apache-2.0
// Futexes in shared memory: not private, since the waiters are in several processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace peal::shm {

// Sleeps while `word` is `seen`, at most for `limit`. May also return for no reason.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen,
                std::chrono::nanoseconds limit);

void futex_wake_all(std::atomic<std::uint32_t>& word);

}  // namespace peal::shm
