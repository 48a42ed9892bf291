// SPDX-License-Identifier: Apache-2.0
#include "check/explain.hpp"

#include <algorithm>
#include <deque>

#include "check/finding.hpp"
#include "check/schedule.hpp"

namespace peal::checker {

void Explainer::add_join(Event wait, Event notify) {
    joins_[wait.agent].push_back({wait.op, notify});
}

void Explainer::add_conflict(const Conflict& conflict) {
    const Event first = conflict.earlier.event();
    const Event second = conflict.later.event();
    const std::uint64_t calls_apart = model_.op(second).call - model_.op(first).call;
    Example& example = examples_[{sort_of(model_, first), sort_of(model_, second), calls_apart}];
    if (example.pairs++ == 0) example.conflict = conflict;
}

// Searches backwards, breadth first over notifies, so the chain has the fewest links. Each agent is
// known up to some op; a notify found further on extends that.
std::vector<Explanation::Link> Explainer::chain(Event from, Event to) const {
    struct Visit {
        Event at;
        std::int32_t next = -1;  // the visit that this one leads to
        Event wait;              // there
    };
    std::vector<Visit> visits = {{to, -1, {}}};
    std::vector<std::uint32_t> known(model_.agents.size(), 0);
    for (std::size_t i = 0; i < visits.size(); ++i) {
        const Event at = visits[i].at;
        if (at.agent == from.agent && at.op >= from.op) {
            std::vector<Explanation::Link> links;
            for (std::int32_t v = static_cast<std::int32_t>(i); visits[v].next >= 0;
                 v = visits[v].next) {
                const bool internal = model_.op(visits[v].wait).origin == Origin::issue;
                if (internal) continue;
                links.push_back({step_of(model_, visits[v].at), step_of(model_, visits[v].wait)});
            }
            return links;
        }
        for (const Join& join : joins_[at.agent]) {
            if (join.wait < known[at.agent] || join.wait > at.op) continue;
            visits.push_back({join.notify, static_cast<std::int32_t>(i), {at.agent, join.wait}});
        }
        known[at.agent] = std::max(known[at.agent], at.op + 1);
    }
    return {};
}

std::vector<Explanation> Explainer::explanations() const {
    std::vector<Explanation> list;
    for (const auto& [sort, example] : examples_) {
        const Conflict& conflict = example.conflict;
        Explanation explanation;
        explanation.first = step_of(model_, conflict.earlier.event());
        explanation.second = step_of(model_, conflict.later.event());
        explanation.memory = text_of(model_.regions[conflict.region], conflict.begin, conflict.end);
        explanation.chain = chain(conflict.earlier.event(), conflict.later.event());
        explanation.pairs = example.pairs;
        list.push_back(std::move(explanation));
    }
    return list;
}

}  // namespace peal::checker
