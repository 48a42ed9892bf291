// SPDX-License-Identifier: Apache-2.0
// Where the host has put our two cores. On a virtual machine two cores may share a cache (near) or
// not (far), and change while one looks; small collectives are several times slower far. Figures
// from different states say nothing about each other.
#pragma once

#include <memory>
#include <string_view>

namespace peal::bench {

// mixed: it changed, or could not be told.
enum class State { near, far, mixed };
std::string_view name(State state);

class Placement {
public:
    Placement();
    ~Placement();
    Placement(const Placement&) = delete;
    Placement& operator=(const Placement&) = delete;

    // The time of a cache line from one core to the other; about 0.1 ms of both cores. With a
    // single core it is 0; infinite if other programs keep the cores too busy to tell.
    double one_way_ns();

    // The state now.
    State look();

    // Blocking wake-ups between the two cores make some hosts bring them near. Returns what came of
    // it; a few ms.
    State bring_near();

private:
    struct Pair;
    std::unique_ptr<Pair> pair_;
};

// The state of what happened between two looks.
inline State between(State before, State after) { return before == after ? before : State::mixed; }

}  // namespace peal::bench
