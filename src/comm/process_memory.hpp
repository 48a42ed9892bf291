// SPDX-License-Identifier: Apache-2.0
// Memory of other processes. The system copies: one copy instead of two through shared memory, for
// a system call and a look at each page.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace peal::comm {

// False: the process is gone, the memory is not there, or the system does not allow it.
bool copy_from_process(std::byte* to, pid_t process, std::uint64_t from, std::uint64_t bytes);
bool copy_to_process(pid_t process, std::uint64_t to, const std::byte* from, std::uint64_t bytes);

// Allows it to the processes that have the same parent, where the system wants to be told so
// (Yama's ptrace_scope 1).
void admit_siblings();

}  // namespace peal::comm
