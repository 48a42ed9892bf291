// SPDX-License-Identifier: Apache-2.0
// A memory fence that its caller makes all other threads execute (membarrier(2)). A rank that goes
// to sleep pays for it, so that a rank that notifies need not fence.
#pragma once

namespace peal::shm {

// Lets other processes' fences reach the threads of this one. Cheap when done before. False if the
// system has no such fences.
bool accept_foreign_fences();

// On return every thread of every accepting process has executed a full fence since the call.
void fence_everybody();

}  // namespace peal::shm
