// SPDX-License-Identifier: Apache-2.0
// One run of the model with vector clocks. When the assumptions of docs/proof.md hold, the clocks
// say what comes before what in every run; the assumptions are checked on the way.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "check/clocks.hpp"
#include "check/finding.hpp"
#include "check/meter.hpp"
#include "check/model.hpp"

namespace peal::checker {

class CausalRun {
public:
    class Observer {
    public:
        virtual ~Observer() = default;
        // The event has just happened; the agent's clock counts it.
        virtual void on_event(Event event, const Clocks& clocks) = 0;
        // The wait comes after the notify in every run.
        virtual void on_join(Event /*wait*/, Event /*notify*/) {}
    };

    enum class End : std::uint8_t { done, outside };

    CausalRun(const Model& model, Observer& observer, Findings& findings);
    // What it needs at once.
    static std::uint64_t bytes_for(const Model& model) {
        return model.agents.size() * model.agents.size() * sizeof(std::uint32_t) +
               model.cells.size() * sizeof(CellState);
    }

    // Goes on until nobody can, or a cell overflows: what comes after that is anybody's guess.
    // Findings are about signals: deadlock, stale waits, flags, overflow, where cells end.
    End run(Meter& meter);
    // Goes on until nobody can without beginning call `calls`, which all then begin in one order,
    // whoever was first before. Whether all have come there, and nothing stands in the way of their
    // going on.
    bool run_to(std::uint32_t calls, Meter& meter);

    // What the future depends on, between two calls to which all have come: times counted back from
    // now, values from what the cell's waits grow by (`drift`, by cell).
    void describe(std::span<const std::int64_t> drift, std::vector<std::uint64_t>& words) const;
    // Whether cells hold what the next call expects.
    bool ends_right() const;
    const Clocks& clocks() const { return clocks_; }
    std::int64_t value(CellId cell) const { return cells_[cell].value - cells_[cell].taken; }
    // That the waiter is sure of.
    std::int64_t least_value(CellId cell) const {
        return cells_[cell].guaranteed - cells_[cell].taken;
    }

    const std::string& broken_assumption() const { return broken_; }
    // How many ops each agent has carried out.
    const std::vector<std::uint32_t>& progress() const { return next_; }

private:
    class SnapshotWords;

    struct Record {
        Epoch notify;
        std::uint32_t call = 0;
        std::int64_t value = 0;  // of the counter, after it
        Clocks::SnapshotId snapshot = kNone;
    };

    // A cell is understood in one of two ways (assumption 4). `chained`: its notifies are ordered
    // one after another. `summed`: all are additions and every wait takes all that can have come.
    // Its value is counted with what its waiter has taken back, so that it never shrinks.
    struct CellState {
        std::int64_t value = 0;
        std::int64_t taken = 0;
        Epoch last_take;
        std::vector<Record> records;
        std::size_t joined = 0;       // records before this one are known to the waiter
        std::int64_t guaranteed = 0;  // the value after the last of them
        Epoch last_wait;
        std::vector<Epoch> exact;  // waits for exactly this value that have passed, by waiter
        bool chained = true;
        bool summed = true;
        std::vector<AgentId> blocked;
    };

    void make_ready(AgentId agent);
    void run_agent(AgentId agent);
    // Whether the wait can pass; if not, its agent is blocked.
    bool can_pass(AgentId agent, const Op& op);
    void notify(AgentId agent, const Op& op);
    void take_back(AgentId agent, const Op& op);
    void wait(AgentId agent, const Op& op);
    void join_chained(AgentId agent, CellState& cell, std::int64_t threshold, bool sole_waiter);
    void join_all(AgentId agent, CellState& cell);
    void join(AgentId agent, const Record& record);
    void check_exact(AgentId agent, const CellState& cell);
    void check_order(AgentId agent, const Op& op, CellState& cell);
    void check_flag(AgentId agent, const Op& op, const CellState& cell);
    void check_stale(AgentId agent, const Op& op, const CellState& cell);
    void report_overflow(AgentId agent, const CellState& cell, std::int64_t value);
    bool is_done(AgentId agent) const;
    void report_blocked();
    void finish();
    void describe(const CellState& cell, const CellInfo& info, std::int64_t base,
                  SnapshotWords& snapshots, std::vector<std::uint64_t>& words) const;
    bool all_know(const std::vector<AgentId>& agents, Epoch epoch) const;
    void leave(int assumption, AgentId agent, const std::string& why);

    const Model& model_;
    Observer& observer_;
    Findings& findings_;
    Clocks clocks_;
    std::vector<std::uint32_t> next_;
    std::vector<CellState> cells_;
    // Agents that can go on, by the call they are in. Calls are run in order as far as they can be,
    // so that what clashes is found in the earliest calls that it clashes in.
    std::vector<std::deque<AgentId>> ready_;
    std::uint32_t call_ = 0;  // nobody is ready in calls before it
    std::uint64_t events_ = 0;
    bool overflowed_ = false;
    std::string broken_;
};

}  // namespace peal::checker
