// SPDX-License-Identifier: Apache-2.0
// A pipe into which only a launcher could write: it ends when the launcher does, and the system
// then kills every rank that holds on to it. Ranks that are the launcher's children need none;
// those behind a script do.
#pragma once

namespace peal::shm {

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

}  // namespace peal::shm
