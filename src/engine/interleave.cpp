// SPDX-License-Identifier: Apache-2.0
#include "engine/interleave.hpp"

#include <cstddef>
#include <vector>

namespace peal {

// A rank found blocked is not drawn again until some rank rings. The modulus is not quite fair, but
// the same with every standard library.
RunEnd interleave(std::span<Core> cores, std::mt19937_64& random) {
    std::vector<Core*> awake;
    std::vector<Core*> asleep;
    for (Core& core : cores) awake.push_back(&core);
    while (!awake.empty()) {
        const std::size_t drawn = random() % awake.size();
        const Outcome outcome = awake[drawn]->step();
        if (outcome == Outcome::rang) {
            awake.insert(awake.end(), asleep.begin(), asleep.end());
            asleep.clear();
        } else if (outcome != Outcome::progressed) {
            if (outcome == Outcome::blocked) asleep.push_back(awake[drawn]);
            awake[drawn] = awake.back();
            awake.pop_back();
        }
    }
    return asleep.empty() ? RunEnd::finished : RunEnd::stuck;
}

}  // namespace peal
