// SPDX-License-Identifier: Apache-2.0
// Ranks evenly over the cores.
//
// The scheduler takes a rank that ran a moment ago for one that is better off where it is, and
// ranks that hand a core to each other have all run a moment ago: three stay on one core and one on
// the other, and every call waits for the three. A stranger that keeps a core busy pushes two ranks
// onto the other, where each waits for its time slice. So a rank on a crowded core moves itself. It
// may still be moved: the cores that it may use are set to one, and at once to what they were. (Who
// changes them from outside just then is overruled.) A rank never goes to a core that its user
// keeps it from.
//
// Two ranks that wait for each other only, and hand messages to and fro, are sooner done on two
// cores than on one, however many others there are: of the two the one with the lower rank leaves.
//
// Of cores that are equally empty it takes one of its own memory node, where its pages are, and of
// those one whose physical core has the fewest ranks. It does not move for these reasons alone: a
// core that looks free may be a stranger's, and the scheduler knows better.
#pragma once

#include <span>

#include "shm/topology.hpp"
#include "shm/world.hpp"

namespace peal::shm {

// That a rank waits for no rank in particular.
inline constexpr int kNoPartner = -1;

// Where this rank should go, -1 if it should stay: to the best of the emptiest cores that it may
// use, if its own has two ranks more, or its partner. `cores[r]` is the core of rank r, -1 if it is
// not known.
int better_core(std::span<const int> cores, int rank, std::span<const int> may_use,
                const Topology& topology, int partner = kNoPartner);

// Notes the core of this rank, and every now and then sees to it that the ranks are spread. For a
// rank that yields; it may take some microseconds.
void spread_out(World& world, int rank, int partner);

// For a rank that should have a core for itself: if another rank was last seen on its core, it goes
// to a core without one. False if there is no such core that it may use.
bool part(World& world, int rank);

}  // namespace peal::shm
