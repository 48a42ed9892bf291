// SPDX-License-Identifier: Apache-2.0
// Interleavings as lists of events: made, tried out, shortened, and turned into steps for people.
#pragma once

#include <functional>
#include <vector>

#include "check/finding.hpp"
#include "check/model.hpp"

namespace peal::checker {

using Schedule = std::vector<Event>;

// Carries out ops one at a time on concrete cells.
class Replay {
public:
    explicit Replay(const Model& model)
        : model_(model), next_(model.agents.size(), 0), cells_(model.cells.size(), 0) {}

    const std::vector<std::uint32_t>& progress() const { return next_; }
    std::int64_t value(CellId cell) const { return cells_[cell]; }
    bool can_step(AgentId agent) const;
    void step(AgentId agent);

private:
    const Model& model_;
    std::vector<std::uint32_t> next_;
    std::vector<std::int64_t> cells_;
};

// Whether the events can happen in this order.
bool is_possible(const Model& model, const Schedule& schedule);

// An order of the first `until[a]` ops of each agent a. There must be one.
Schedule linearise(const Model& model, const std::vector<std::uint32_t>& until);

// Leaves out steps that the last `kept` events do not need: as long as some agent's last step can
// go, the schedule stays possible and `still_shows` holds, it goes.
Schedule shorten(const Model& model, Schedule schedule, std::size_t kept,
                 const std::function<bool(const Schedule&)>& still_shows);

// Steps of ranks and their callers, each wait with the notify that released it. What orders the
// pipes of a rank internally is left out.
std::vector<Step> steps_of(const Model& model, const Schedule& schedule);
Step step_of(const Model& model, Event event);

}  // namespace peal::checker
