// SPDX-License-Identifier: Apache-2.0
// What ranks of several processes sleep with: futexes in shared memory, and a fence that makes it
// unnecessary for who notifies to fence.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace peal::shm {

// Sleeps while `word` is `seen`, at most for `limit`. May also return for no reason.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen,
                std::chrono::nanoseconds limit);

void futex_wake_all(std::atomic<std::uint32_t>& word);

// A memory fence that its caller makes all other threads execute (membarrier(2)). A rank that goes
// to sleep pays for it, so that a rank that notifies need not fence.

// Lets other processes' fences reach the threads of this one. Cheap when done before. False if the
// system has no such fences.
bool accept_foreign_fences();

// On return every thread of every accepting process has executed a full fence since the call.
void fence_everybody();

}  // namespace peal::shm
