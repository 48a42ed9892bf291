// SPDX-License-Identifier: Apache-2.0
// The linear method, the exploration and the naive interpreter on the same program.
//
// What is claimed and compared:
// - `proved` means that no interleaving shows any violation, and that none returns other bytes than
//   the meaning has, on real bytes;
// - `violated` means that some interleaving shows a violation of that kind, or that the calls drift
//   apart. A wrong result is one of terms: its bytes may be right all the same, for the reasons
//   that Truth::is_unexplained lists and no others;
// - the two methods have the same verdict, and inside its assumptions the linear method finds all
//   kinds that there are, but those that a race or a flag that is set twice makes meaningless;
//   and those of what a cache takes for a read that a deadlock keeps from being reached;
// - schedules of programs without pipes can happen;
// - what is proved for any number of calls is proved for more than were asked, one by one, and by
//   the naive interpreter as far as it goes;
// - what is proved stays proved, and returns the same, when it is fused, and when its pipes are put
//   into an order.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "check/crosscheck/random_programs.hpp"

namespace peal::test {

struct Tally {
    int programs = 0;
    int undecided = 0;  // too many interleavings
    int malformed = 0;  // refused, or wrong whatever the interleaving; nothing is compared
    int linear = 0, explored = 0, proved = 0, violated = 0;
    int visible = 0;  // violated with other bytes than the meaning's
    int any = 0;      // proved for any number of calls
    int late = 0;     // proved for as many calls as were asked, and violated with a few more
    int forms = 0;    // proved once more when fused or ordered, in other instructions
    int early = 0;    // of these, with a flag that is awaited before it is set in the list
    std::map<ViolationKind, int> kinds;

    void add(const Tally& other);
};
std::string to_text(const Tally& tally);

// Empty if all agree; else what does not.
std::string disagreement(const RandomProgram& program, Tally& tally);

}  // namespace peal::test
