// SPDX-License-Identifier: Apache-2.0
// Why conflicting accesses never clash.
#pragma once

#include <map>
#include <vector>

#include "check/history.hpp"
#include "check/model.hpp"

namespace peal::checker {

// Collects the ordered conflicts of a causal run, one example of each sort, and finds for each the
// shortest chain of notifies and waits that orders it.
class Explainer {
public:
    explicit Explainer(const Model& model) : model_(model), joins_(model.agents.size()) {}

    void add_join(Event wait, Event notify);
    void add_conflict(const Conflict& conflict);
    std::vector<Explanation> explanations() const;

private:
    struct Join {
        std::uint32_t wait;  // op of the agent
        Event notify;
    };
    struct Example {
        Conflict conflict;
        std::uint64_t pairs = 0;
    };

    std::vector<Explanation::Link> chain(Event from, Event to) const;

    const Model& model_;
    std::vector<std::vector<Join>> joins_;  // by agent, in the order of its waits
    std::map<std::vector<std::uint64_t>, Example> examples_;
};

}  // namespace peal::checker
