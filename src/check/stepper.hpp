// SPDX-License-Identifier: Apache-2.0
// Moves agents from state to state and notices what goes wrong.
#pragma once

#include <optional>

#include "check/finding.hpp"
#include "check/memory_states.hpp"
#include "check/meter.hpp"
#include "check/schedule.hpp"
#include "check/signal_program.hpp"
#include "check/state_layout.hpp"

namespace peal::checker {

class Stepper {
public:
    Stepper(const Model& model, Meter& meter);

    const SignalProgram& program() const { return program_; }
    bool has_contents() const { return has_contents_; }
    std::uint64_t memory_bytes() const { return memory_.memory_bytes() + program_.memory_bytes(); }

    // What follows returns false when something goes wrong; this is what.
    Finding& finding() { return *finding_; }
    // If set, every event is appended to it.
    void trace(Schedule* schedule) { trace_ = schedule; }

    // Every agent enters its first segment.
    bool start(State& state);
    bool can_step(const State& state, AgentId agent) const;
    // One signal op of the agent with the segment behind it, and then all steps that need no
    // choice.
    // From a state where no such step is left.
    bool advance(State& state, AgentId agent) {
        return step(state, agent) && settle(state, bit_of(agent));
    }
    // Nobody can step. False: somebody should, or the cells are not where they should be.
    bool check_end(const State& state);

private:
    const SignalOp& next(const State& state, AgentId agent) const {
        return program_.tracks()[agent].ops[state.position[agent]];
    }
    bool is_finished(const State& state, AgentId agent) const {
        return state.position[agent] == program_.tracks()[agent].ops.size();
    }
    bool fail(Finding finding);

    bool step(State& state, AgentId agent);
    bool notify(State& state, AgentId agent, const SignalOp& op);
    bool may_still_be_set(const State& state, const SignalOp& set) const;
    bool enter(State& state, AgentId agent);
    bool check_clashes(const State& state, std::uint32_t segment);
    Finding clash(std::uint32_t first, std::uint32_t second) const;

    // Takes all steps that need no choice, where none was left before the agents `moved`.
    bool settle(State& state, std::uint64_t moved);
    bool needs_no_choice(const State& state, AgentId agent) const;
    // Agents share bits where there are more than 64: what is looked at in vain does no harm.
    static std::uint64_t bit_of(AgentId agent) { return std::uint64_t{1} << agent % 64; }
    // What an agent can do to a cell before a notify of another agent comes to it.
    enum class Reach : std::uint8_t {
        nothing,   // that would be another thing after the notify
        addition,  // only add to it, as the notify does
        blocked,   // wait for it to change
        all,
    };
    Reach reach(const State& state, const Toucher& toucher, NotifyOp notify) const;
    bool can_pass(const State& state, const SignalOp& wait) const;
    bool can_pass_for_good(const State& state, const SignalOp& wait) const;

    std::int64_t value_of(const State& state, CellId cell) const;
    Event last_notify(CellId cell) const;
    Finding blocked(const State& state) const;

    const Model& model_;
    SignalProgram program_;
    MemoryStates memory_;
    bool has_contents_ = false;
    // By agent and position: the bits of those on whom it depends whether the step there needs a
    // choice; none at the end.
    std::vector<std::vector<std::uint64_t>> watched_;
    AgentId entered_ = 0;  // agents before this one have entered their first segment
    std::optional<Finding> finding_;
    Schedule* trace_ = nullptr;
};

}  // namespace peal::checker
