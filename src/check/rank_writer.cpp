// SPDX-License-Identifier: Apache-2.0
#include "check/rank_writer.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "check/condition.hpp"
#include "check/meter.hpp"
#include "plan/pipes.hpp"

namespace peal::checker {
namespace {

template <class T>
void insert_once(std::vector<T>& list, const T& item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

constexpr std::size_t kSpare = 64;  // order between pipes may take a few ops more at first

// Writes the ops of one rank, lane by lane. A lane's first agent is its issuing (scalar) unit,
// which is the whole lane when the plan has no pipes. That of the first lane is also the rank's
// caller.
class RankWriter {
public:
    RankWriter(Model& model, std::int32_t rank) : model_(model), rank_(rank) {
        for (const CheckStage& stage : *model.stages) {
            const Plan& plan = (*stage.plans)[static_cast<std::size_t>(rank)];
            while (lanes_.size() < plan.lane_count()) add_lane();
            for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
                use_pipe(plan.lane_of(i), plan::pipe_of(plan.instructions[i]));
            }
        }
    }

    std::uint64_t ops() const { return ops_; }

    void write_call(std::uint32_t call) {
        call_ = call;
        const Plan& plan = model_.plan(call, rank_);
        emit_data(lanes_[0], lanes_[0].main, Origin::stages, 0);
        // Lanes without instructions order nothing.
        const auto is_used = [&](std::size_t l) {
            return l > 0 && plan.lane_begin(l) != plan.lane_end(l);
        };
        for (std::size_t l = 0; l < plan.lane_count(); ++l) {
            if (is_used(l)) begin(lanes_[l]);
        }
        for (std::size_t l = 0; l < plan.lane_count(); ++l) {
            for (std::size_t i = plan.lane_begin(l); i < plan.lane_end(l); ++i) {
                write(lanes_[l], plan.instructions[i], static_cast<std::uint32_t>(i));
            }
            drain(lanes_[l]);
        }
        for (std::size_t l = 0; l < plan.lane_count(); ++l) {
            if (is_used(l)) end(lanes_[l]);
        }
        emit_data(lanes_[0], lanes_[0].main, Origin::consumes, 0);
    }

private:
    // Counts what one agent has done, for another to wait for.
    struct Counter {
        CellId cell = kNone;
        std::int64_t count = 0;
    };
    // A pipe: what was issued to it and has not been done.
    struct Queue {
        AgentId agent = kNone;
        Counter issued, drained;        // between it and the issuing unit
        std::size_t main_ops_seen = 0;  // the issuing unit's ops that it is ordered after
        std::size_t ops_drained = 0;
    };
    struct Lane {
        AgentId main = kNone;
        std::uint32_t number = 0;
        std::size_t main_ops = 0;
        Counter begun, ended;  // calls, between it and the caller; of the first lane unused
        std::array<Queue, static_cast<std::size_t>(Pipe::all) + 1> queues;
        std::map<std::tuple<Pipe, Pipe, std::uint8_t>, CellId> flags;
    };

    AgentId add_agent(std::uint32_t lane, Pipe pipe) {
        model_.agents.push_back({rank_, lane, pipe, {}});
        return static_cast<AgentId>(model_.agents.size() - 1);
    }

    CellId add_cell(CellRole role) {
        CellInfo cell;
        cell.role = role;
        model_.cells.push_back(cell);
        return static_cast<CellId>(model_.cells.size() - 1);
    }

    void add_lane() {
        Lane& lane = lanes_.emplace_back();
        lane.number = static_cast<std::uint32_t>(lanes_.size() - 1);
        lane.main = add_agent(lane.number, Pipe::scalar);
        if (lane.number == 0) return;
        lane.begun.cell = add_cell(CellRole::issue);
        lane.ended.cell = add_cell(CellRole::issue);
    }

    static Queue& queue(Lane& lane, Pipe pipe) {
        return lane.queues[static_cast<std::size_t>(pipe)];
    }

    void use_pipe(std::size_t number, Pipe pipe) {
        if (!plan::is_beside(pipe)) return;
        Lane& lane = lanes_[number];
        if (queue(lane, pipe).agent != kNone) return;
        Queue added;
        added.agent = add_agent(lane.number, pipe);
        added.issued.cell = add_cell(CellRole::issue);
        added.drained.cell = add_cell(CellRole::issue);
        queue(lane, pipe) = added;
    }

    void write(Lane& lane, const Instruction& instruction, std::uint32_t index) {
        const Pipe pipe = plan::pipe_of(instruction);
        if (pipe == Pipe::all) drain(lane);
        const AgentId agent = plan::is_beside(pipe) ? issue(lane, queue(lane, pipe)) : lane.main;
        if (const auto* notify = std::get_if<Notify>(&instruction.action)) {
            emit_notify(lane, agent, index, *notify);
        } else if (const auto* wait = std::get_if<Wait>(&instruction.action)) {
            emit_wait(lane, agent, index, *wait);
        } else if (const auto* set = std::get_if<SetFlag>(&instruction.action)) {
            emit_flag(lane, agent, index, OpKind::notify,
                      flag(lane, set->from, set->to, set->event));
        } else if (const auto* wait_flag = std::get_if<WaitFlag>(&instruction.action)) {
            emit_flag(lane, agent, index, OpKind::wait,
                      flag(lane, wait_flag->from, wait_flag->to, wait_flag->event));
        } else {
            emit_data(lane, agent, Origin::instruction, index);
        }
    }

    // ---- order within a rank: one agent counts, another waits for the count

    void tell(Lane& lane, AgentId agent, Counter& counter) {
        emit_internal(lane, agent, OpKind::notify, counter.cell, ++counter.count);
    }
    void hear(Lane& lane, AgentId agent, const Counter& counter) {
        emit_internal(lane, agent, OpKind::wait, counter.cell, counter.count);
    }

    // The lane starts after the caller has staged.
    void begin(Lane& lane) {
        tell(lanes_[0], lanes_[0].main, lane.begun);
        hear(lane, lane.main, lane.begun);
        ++lane.main_ops;  // its pipes start after that, too
    }

    // The caller consumes after the lane has ended.
    void end(Lane& lane) {
        tell(lane, lane.main, lane.ended);
        hear(lanes_[0], lanes_[0].main, lane.ended);
    }

    // The instruction starts after everything that the issuing unit has done so far.
    AgentId issue(Lane& lane, Queue& to) {
        if (to.main_ops_seen != lane.main_ops) {
            tell(lane, lane.main, to.issued);
            hear(lane, to.agent, to.issued);
            to.main_ops_seen = lane.main_ops;
        }
        return to.agent;
    }

    // The issuing unit goes on when all its pipes are empty.
    void drain(Lane& lane) {
        for (const Pipe pipe : plan::kBesidePipes) {
            Queue& from = queue(lane, pipe);
            if (from.agent == kNone) continue;
            const std::size_t ops = model_.agents[from.agent].ops.size();
            if (ops == from.ops_drained) continue;
            tell(lane, from.agent, from.drained);
            hear(lane, lane.main, from.drained);
            from.ops_drained = ops + 1;
        }
    }

    void emit(Lane& lane, AgentId agent, const Op& op) {
        model_.agents[agent].ops.push_back(op);
        ++ops_;
        if (agent == lane.main && op.origin != Origin::issue) ++lane.main_ops;
        if (op.kind == OpKind::notify) {
            insert_once(model_.cells[op.cell].writers, agent);
        } else if (op.kind == OpKind::wait) {
            insert_once(model_.cells[op.cell].waiters, agent);
        }
    }

    void emit_data(Lane& lane, AgentId agent, Origin origin, std::uint32_t index) {
        Op op;
        op.origin = origin;
        op.call = call_;
        op.index = index;
        emit(lane, agent, op);
    }

    void emit_internal(Lane& lane, AgentId agent, OpKind kind, CellId cell, std::int64_t value) {
        Op op;
        op.kind = kind;
        op.origin = Origin::issue;
        op.call = call_;
        op.cell = cell;
        op.value = value;
        emit(lane, agent, op);
    }

    // A flag is a counter: the k-th wait_flag takes what the k-th set_flag left.
    void emit_flag(Lane& lane, AgentId agent, std::uint32_t index, OpKind kind, CellId cell) {
        Op op;
        op.kind = kind;
        op.is_flag = true;
        op.call = call_;
        op.index = index;
        op.cell = cell;
        op.value = ++flag_counts_[{cell, kind}];
        emit(lane, agent, op);
    }

    CellId flag(Lane& lane, Pipe from, Pipe to, std::uint8_t event) {
        const auto [found, is_new] = lane.flags.try_emplace({from, to, event}, kNone);
        if (is_new) found->second = add_cell(CellRole::flag);
        return found->second;
    }

    const Storage& storage_of(std::uint16_t buffer) const {
        return model_.storages[model_.storage_of[model_.stage_of(call_)][buffer]];
    }

    CellId cell_of(const Cell& cell) const {
        const Storage& storage = storage_of(cell.buffer);
        const std::uint64_t stride = model_.plan(call_, rank_).buffers[cell.buffer].cell_stride;
        return storage.cell_of(storage.number_at(cell, stride));
    }

    std::int64_t now(const Cell& cell, const Value& value) const {
        return followed_value(value, storage_of(cell.buffer).generation[call_]);
    }

    void emit_notify(Lane& lane, AgentId agent, std::uint32_t index, const Notify& notify) {
        if (storage_of(notify.cell.buffer).first_region != kNone) {
            emit_data(lane, agent, Origin::line, index);
        }
        Op op;
        op.kind = OpKind::notify;
        op.notify = notify.op;
        op.call = call_;
        op.index = index;
        op.cell = cell_of(notify.cell);
        op.value = now(notify.cell, notify.value);
        CellInfo& cell = model_.cells[op.cell];
        cell.has_add |= op.notify == NotifyOp::add;
        emit(lane, agent, op);
    }

    void emit_wait(Lane& lane, AgentId agent, std::uint32_t index, const Wait& wait) {
        Op op;
        op.kind = OpKind::wait;
        op.compare = wait.compare;
        op.call = call_;
        op.index = index;
        op.cell = cell_of(wait.cell);
        op.value = now(wait.cell, wait.value);
        CellInfo& cell = model_.cells[op.cell];
        if (cell.waiters.empty()) cell.per_generation = wait.value.per_generation;
        // On entry a rank may ask again for what the previous call ended with.
        const bool is_entry = wait.value.per_generation != 0 && wait.value.constant <= 0;
        const Condition condition{wait.compare, op.value};
        op.may_be_stale = asked_before(op.cell, condition) && !is_entry && !condition.holds(0);
        emit(lane, agent, op);
    }

    // Whether a wait of an earlier call asked for this or more; remembers this wait.
    bool asked_before(CellId cell, const Condition& condition) {
        Asked& asked = asked_[cell];
        if (asked.call != call_) {
            for (const Condition& c : asked.in_this_call) add_condition(asked.in_earlier_calls, c);
            asked.in_this_call.clear();
            asked.call = call_;
        }
        add_condition(asked.in_this_call, condition);
        return std::any_of(asked.in_earlier_calls.begin(), asked.in_earlier_calls.end(),
                           [&](const Condition& c) { return implies(c, condition); });
    }

    // Keeps the strongest conditions only.
    static void add_condition(std::vector<Condition>& list, const Condition& condition) {
        for (const Condition& other : list) {
            if (implies(other, condition)) return;
        }
        std::erase_if(list, [&](const Condition& other) { return implies(condition, other); });
        list.push_back(condition);
    }

    struct Asked {
        std::uint32_t call = 0;
        std::vector<Condition> in_this_call, in_earlier_calls;
    };

    Model& model_;
    std::int32_t rank_;
    std::uint32_t call_ = 0;
    std::uint64_t ops_ = 0;
    std::vector<Lane> lanes_;
    std::map<std::pair<CellId, OpKind>, std::int64_t> flag_counts_;
    std::map<CellId, Asked> asked_;
};

}  // namespace

void write_rank(Model& model, std::int32_t rank, Meter& meter) {
    RankWriter writer(model, rank);
    const auto round = static_cast<std::uint32_t>(model.stages->size());
    for (std::uint32_t call = 0; call < model.calls; ++call) {
        const std::uint64_t before = writer.ops();
        writer.write_call(call);
        meter.work(writer.ops() - before);
        if (call + 1 != round) continue;
        // Each round of calls is as long as the first.
        const std::uint32_t rounds = model.calls / round;
        meter.hold(writer.ops() * rounds * sizeof(Op));
        for (Agent& agent : model.agents) {
            if (agent.rank == rank) agent.ops.reserve(agent.ops.size() * rounds + kSpare);
        }
    }
}

}  // namespace peal::checker
