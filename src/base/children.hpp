// SPDX-License-Identifier: Apache-2.0
// The processes that this one has started, and what those leave behind.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace peal::base {

// A descriptor that can be read when the process has ended; -1 and errno if there is none.
int pidfd_of(pid_t pid);

// From now on processes that lose their parent below this one become its children.
void adopt_orphans();

// For a process whose children are all to go, and theirs too. Those that are still there after
// `grace` are killed. Returns when there are none, or none that /proc shows.
void end_children(std::chrono::milliseconds grace);

}  // namespace peal::base
