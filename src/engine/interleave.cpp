// SPDX-License-Identifier: Apache-2.0
#include "engine/in_process.hpp"

#include <cstddef>
#include <vector>

namespace peal::engine {

namespace {

struct Stepper : PlainSupplier {
    static constexpr bool kStepwise = true;
    static bool wait(const Core&) { return false; }
    void rang(const Core&) { has_rung = true; }
    bool has_rung = false;
};

}  // namespace

// A rank found blocked is not drawn again until some rank rings. The modulus is not quite fair, but
// the same with every standard library.
RunEnd interleave(std::span<Core> cores, std::mt19937_64& random) {
    std::vector<Core*> awake;
    std::vector<Core*> asleep;
    for (Core& core : cores) awake.push_back(&core);
    while (!awake.empty()) {
        const std::size_t drawn = random() % awake.size();
        Stepper stepper;
        const Driven driven = drive(*awake[drawn], stepper);
        if (stepper.has_rung) {
            awake.insert(awake.end(), asleep.begin(), asleep.end());
            asleep.clear();
        } else if (driven != Driven::stepped) {
            if (driven == Driven::set_aside) asleep.push_back(awake[drawn]);
            awake[drawn] = awake.back();
            awake.pop_back();
        }
    }
    return asleep.empty() ? RunEnd::finished : RunEnd::stuck;
}

}  // namespace peal::engine
