// SPDX-License-Identifier: Apache-2.0
// One trial of the storm: ranks that make random calls while something goes wrong. Everything
// about it follows from its seed, but for when exactly the trouble comes.
#pragma once

#include <cstdint>
#include <string>

namespace peal::storm {

enum class Trouble : std::uint8_t {
    none,
    kill,      // a rank is killed
    stop,      // a rank is stopped for a while, a few times
    mismatch,  // a rank makes another call than the others
    leave,     // a rank makes no further call
    orphan,    // the process that looks after the ranks is killed
};

// How calls are made.
enum class Style : std::uint8_t { blocking, started, polling };

inline constexpr int kPartEvery = 3;  // calls, of which one is made in a part

struct Trial {
    std::uint64_t seed = 0;
    int nranks = 2;
    int calls = 0;
    Trouble trouble = Trouble::none;
    Style style = Style::blocking;
    bool split = false;  // some calls are made among the ranks of equal parity
    int victim = 0;
    int when = 0;  // the victim's call at which the trouble comes
    int delay_us = 0;
};

Trial trial_of(std::uint64_t seed);
std::string to_text(const Trial& trial);

}  // namespace peal::storm
