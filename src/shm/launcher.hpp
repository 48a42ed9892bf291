// SPDX-License-Identifier: Apache-2.0
// What ties a rank to the launcher that started it: it dies with it, and leaves the keyboard to it.
#pragma once

#include <memory>

#include "shm/world.hpp"

namespace peal::shm {

// A pipe into which only a launcher could write: it ends when the launcher does, and the system
// then kills every rank that holds on to it. Ranks that are the launcher's children need none;
// those behind a script do.
class Lifeline {
public:
    // Throws Error(resource).
    Lifeline();
    ~Lifeline();
    Lifeline(const Lifeline&) = delete;
    Lifeline& operator=(const Lifeline&) = delete;

    // The end for the ranks; closed on exec unless somebody changes that.
    int descriptor() const { return ends_[0]; }

private:
    int ends_[2] = {-1, -1};
};

// From now on this process dies with the launcher. Takes the descriptor over; does nothing if it is
// not a pipe.
void hold_on_to(int descriptor);

// Ctrl-C and Ctrl-\ reach every process of a terminal's foreground: launcher and ranks alike. The
// ranks would be gone before the launcher could ask them where they stand.
//
// From now on this process leaves the terminal's first SIGINT and every SIGQUIT to the launcher,
// which asks first and then sends SIGINT itself. A SIGINT that comes from a process does what it
// always does, SIGQUIT nothing; signals that the program handles stay the program's.
void leave_keyboard_to_launcher(std::shared_ptr<World> world, int rank);

}  // namespace peal::shm
