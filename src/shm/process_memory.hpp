// SPDX-License-Identifier: Apache-2.0
// Memory of other processes. The system copies: one copy instead of two through shared memory, for
// a system call and a look at each page.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace peal::shm {

// False, and errno says why: the process is gone (ESRCH), the memory is not there (EFAULT), or the
// system does not allow it (EPERM).
bool copy_from_process(std::byte* to, pid_t process, std::uint64_t from, std::uint64_t bytes);
bool copy_to_process(pid_t process, std::uint64_t to, const std::byte* from, std::uint64_t bytes);

// Allows it to the processes that descend from the parent of this one, where the system wants to be
// told so (Yama's ptrace_scope 1). Replaces what prctl(PR_SET_PTRACER) said before.
void admit_siblings();

// A number that no other process has; threads share it, forked children have their own.
const std::atomic<std::uint64_t>& word_of_this_process();

}  // namespace peal::shm
