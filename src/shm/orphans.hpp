// SPDX-License-Identifier: Apache-2.0
// What ranks leave behind: processes that they started and did not wait for.
#pragma once

#include <chrono>

namespace peal::shm {

// From now on processes that lose their parent below this one become its children.
void adopt_orphans();

// For a process whose children are all to go, and theirs too. Those that are still there after
// `grace` are killed. Returns when there are none.
void end_children(std::chrono::milliseconds grace);

}  // namespace peal::shm
