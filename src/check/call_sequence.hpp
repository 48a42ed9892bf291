// SPDX-License-Identifier: Apache-2.0
// Calls to check, one after the other, with what their stages point to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"

namespace peal::checker {

class CallSequence {
public:
    // One call; without a meaning only its protocol is checked. Calls share windows and signals of
    // the same name and place.
    void add(std::vector<Plan> plans, std::optional<Meaning> meaning, std::string place = {});
    // The same on windows that hold something when the call begins.
    void add_held(std::vector<Plan> plans, std::optional<Meaning> meaning, std::vector<Held> holds);

    // A collective as its recipe asks to be called. One whose windows may be used again only later
    // is called on two sets of them in turn; if not every rank hears from every other, a barrier
    // tells that all have returned before a set is used again.
    void add(const Collective& collective, std::vector<Plan> plans);

    // One call, or two if there are buffers of which there are two sets, used in turn.
    void add_alternating(std::vector<Plan> plans, std::optional<Meaning> meaning,
                         const std::vector<std::uint16_t>& buffers);

    std::vector<CheckStage> stages() const;

private:
    struct Call {
        std::shared_ptr<const std::vector<Plan>> plans;
        std::shared_ptr<const Meaning> meaning;
        std::string place;
        std::vector<std::uint16_t>
            placed;  // buffers that the place is for; empty: all but arguments
        std::vector<Held> holds;
    };
    std::vector<Call> calls_;
};

}  // namespace peal::checker
