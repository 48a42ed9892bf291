// SPDX-License-Identifier: Apache-2.0
#include "check/phases.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

#include <fmt/format.h>

#include "check/memory.hpp"
#include "check/result.hpp"
#include "check/schedule.hpp"
#include "check/state_layout.hpp"
#include "check/state_set.hpp"
#include "check/stepper.hpp"

namespace peal::checker {
namespace {

constexpr std::uint64_t kMostStates = 4'000'000'000;  // they are numbered with 32 bits

class Search {
public:
    Search(const Model& model, const CheckOptions& options, Meter& meter)
        : options_(options),
          meter_(meter),
          stepper_(model, meter),
          layout_(stepper_.program(), stepper_.has_contents()),
          states_(layout_.words()),
          packed_(stepper_.program().tracks().size() * layout_.words()) {}

    // What goes wrong first, if anything does.
    std::optional<Finding> run() {
        State first;
        bool fine = stepper_.start(first);
        meter_.count_states(1);
        if (fine) {
            pack(first, 0);
            insert_packed(StateSet::kNoState);
            from_ = first;
            for (; fine && at_ < states_.size(); ++at_) {
                look_at_bounds();
                fine = expand();
            }
            meter_.count_states(states_.size());
        }
        if (fine) return std::nullopt;
        return std::move(stepper_.finding());
    }

    // The moves that led to the violation, from the start.
    Schedule trace() {
        std::vector<AgentId> movers;
        if (failed_mover_ != kNone) movers.push_back(failed_mover_);
        if (states_.size() > 0) {
            for (std::uint32_t id = failed_at_; states_.parent(id) != StateSet::kNoState;
                 id = states_.parent(id)) {
                movers.push_back(states_.mover(id));
            }
        }
        std::reverse(movers.begin(), movers.end());
        Schedule schedule;
        stepper_.trace(&schedule);
        State state;
        bool fine = stepper_.start(state);
        for (std::size_t i = 0; fine && i < movers.size(); ++i) {
            fine = stepper_.advance(state, movers[i]);
        }
        stepper_.trace(nullptr);
        return schedule;
    }

private:
    struct Reached {
        std::uint64_t hash;
        AgentId mover;
    };

    void pack(const State& state, AgentId mover) {
        std::uint64_t* packed = packed_.data() + reached_.size() * layout_.words();
        layout_.pack(state, packed);
        reached_.push_back({states_.hash(packed), mover});
        states_.prefetch(reached_.back().hash);
    }

    void insert_packed(std::uint32_t parent) {
        const std::uint64_t* packed = packed_.data();
        for (const Reached& reached : reached_) {
            states_.insert(packed, reached.hash, parent, reached.mover);
            packed += layout_.words();
        }
        reached_.clear();
    }

    bool expand() {
        layout_.unpack(states_.state(at_), from_);
        failed_at_ = at_;
        for (AgentId agent = 0; agent < from_.position.size(); ++agent) {
            if (!stepper_.can_step(from_, agent)) continue;
            to_ = from_;
            failed_mover_ = agent;
            if (!stepper_.advance(to_, agent)) return false;
            pack(to_, agent);
        }
        failed_mover_ = kNone;
        if (reached_.empty()) return stepper_.check_end(from_);
        insert_packed(at_);
        return true;
    }

    void look_at_bounds() {
        const std::uint64_t most = std::min(options_.max_states, kMostStates);
        meter_.count_states(states_.size(), states_.size() - at_);
        if (states_.size() > most) throw BoundReached{fmt::format("{} states", most)};
        meter_.use(states_.memory_bytes() + stepper_.memory_bytes());
        meter_.work();
    }

    const CheckOptions& options_;
    Meter& meter_;
    Stepper stepper_;
    StateLayout layout_;
    StateSet states_;
    // The successors of the state that is being expanded.
    std::vector<std::uint64_t> packed_;
    std::vector<Reached> reached_;
    std::uint32_t at_ = 0;
    std::uint32_t failed_at_ = 0;
    AgentId failed_mover_ = kNone;
    State from_, to_;
};

// Whether the last event still meets what was found, on the contents that the schedule leaves.
bool shows_contents(const Model& model, const Schedule& schedule, const Finding& finding) {
    TermTable terms;
    SymbolicMemory memory(model, terms);
    ResultCheck result(model, terms);
    Findings findings(model);
    for (const Event event : schedule) {
        if (!findings.empty()) return false;
        if (model.op(event).kind != OpKind::data) continue;
        memory.execute(event, findings);
        if (model.op(event).origin == Origin::consumes) result.check(event, memory, findings);
    }
    return std::any_of(findings.list().begin(), findings.list().end(), [&](const Finding& other) {
        return other.kind == finding.kind && other.events == finding.events &&
               other.found == finding.found;
    });
}

// Takes events back, and what their agents did after them.
Schedule without(Schedule schedule, const std::vector<Event>& events) {
    std::erase_if(schedule, [&](Event done) {
        return std::any_of(events.begin(), events.end(), [&](Event event) {
            return done.agent == event.agent && done.op >= event.op;
        });
    });
    return schedule;
}

Schedule with_events_last(Schedule schedule, const std::vector<Event>& events) {
    schedule = without(std::move(schedule), events);
    schedule.insert(schedule.end(), events.begin(), events.end());
    return schedule;
}

Schedule schedule_for(const Model& model, const Finding& finding, Schedule trace) {
    const auto always = [](const Schedule&) { return true; };
    if (finding.whole_run) return trace;
    trace = without(std::move(trace), finding.pending);
    if (finding.simultaneous) {
        return shorten(model, with_events_last(std::move(trace), finding.events),
                       finding.events.size(), always);
    }
    trace = with_events_last(std::move(trace), {finding.events.back()});
    switch (finding.kind) {
        case ViolationKind::wrong_result:
        case ViolationKind::unwritten_read:
            return shorten(model, std::move(trace), 1, [&](const Schedule& schedule) {
                return shows_contents(model, schedule, finding);
            });
        case ViolationKind::flag:
        case ViolationKind::stale_signal: return shorten(model, std::move(trace), 1, always);
        default: return trace;
    }
}

}  // namespace

std::optional<Shown> explore(const Model& model, const CheckOptions& options, Meter& meter) {
    Search search(model, options, meter);
    std::optional<Finding> finding = search.run();
    if (!finding) return std::nullopt;
    Schedule schedule = schedule_for(model, *finding, search.trace());
    assert(is_possible(model, schedule));
    return Shown{std::move(*finding), std::move(schedule)};
}

}  // namespace peal::checker
