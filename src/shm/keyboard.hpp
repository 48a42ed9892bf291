// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and Ctrl-\ reach every process of a terminal's foreground: launcher and ranks alike. The
// ranks would be gone before the launcher could ask them where they stand.
#pragma once

#include <memory>

#include "shm/world.hpp"

namespace peal::shm {

// From now on this process leaves the terminal's first SIGINT and every SIGQUIT to the launcher,
// which asks first and then sends SIGINT itself. Signals that come from processes do what they
// always do, and signals that the program handles stay the program's.
void leave_keyboard_to_launcher(std::shared_ptr<World> world, int rank);

}  // namespace peal::shm
