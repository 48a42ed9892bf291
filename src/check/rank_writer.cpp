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

// Writes the ops of one rank. The rank's first agent is its issuing (scalar) unit, which is the
// whole rank when the plan has no pipes.
class RankWriter {
public:
    RankWriter(Model& model, std::int32_t rank) : model_(model), rank_(rank) {
        main_ = add_agent(Pipe::scalar);
        for (const CheckStage& stage : *model.stages) {
            for (const Instruction& instruction :
                 (*stage.plans)[static_cast<std::size_t>(rank)].instructions) {
                use_pipe(pipe_of(instruction));
            }
        }
    }

    std::uint64_t ops() const { return ops_; }

    void write_call(std::uint32_t call) {
        call_ = call;
        const Plan& plan = model_.plan(call, rank_);
        emit_data(main_, Origin::stages, 0);
        for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
            write(plan.instructions[i], static_cast<std::uint32_t>(i));
        }
        drain();
        emit_data(main_, Origin::consumes, 0);
    }

private:
    struct Lane {
        AgentId agent = kNone;
        CellId issued = kNone, drained = kNone;  // counters between it and the issuing unit
        std::int64_t issues = 0, drains = 0;
        std::size_t main_ops_seen = 0;  // the issuing unit's ops that it is ordered after
        std::size_t ops_drained = 0;
    };

    AgentId add_agent(Pipe pipe) {
        model_.agents.push_back({rank_, pipe, {}});
        return static_cast<AgentId>(model_.agents.size() - 1);
    }

    CellId add_cell(CellRole role) {
        CellInfo cell;
        cell.role = role;
        model_.cells.push_back(cell);
        return static_cast<CellId>(model_.cells.size() - 1);
    }

    Lane& lane(Pipe pipe) { return lanes_[static_cast<std::size_t>(pipe)]; }

    void use_pipe(Pipe pipe) {
        if (!is_beside(pipe) || lane(pipe).agent != kNone) return;
        lane(pipe) = {add_agent(pipe), add_cell(CellRole::issue), add_cell(CellRole::issue)};
    }

    void write(const Instruction& instruction, std::uint32_t index) {
        const Pipe pipe = pipe_of(instruction);
        if (pipe == Pipe::all) drain();
        const AgentId agent = is_beside(pipe) ? issue(lane(pipe)) : main_;
        if (const auto* notify = std::get_if<Notify>(&instruction.action)) {
            emit_notify(agent, index, *notify);
        } else if (const auto* wait = std::get_if<Wait>(&instruction.action)) {
            emit_wait(agent, index, *wait);
        } else if (const auto* set = std::get_if<SetFlag>(&instruction.action)) {
            emit_flag(agent, index, OpKind::notify, flag(set->from, set->to, set->event));
        } else if (const auto* wait_flag = std::get_if<WaitFlag>(&instruction.action)) {
            emit_flag(agent, index, OpKind::wait,
                      flag(wait_flag->from, wait_flag->to, wait_flag->event));
        } else {
            emit_data(agent, Origin::instruction, index);
        }
    }

    // The instruction starts after everything that the issuing unit has done so far.
    AgentId issue(Lane& to) {
        if (to.main_ops_seen != main_ops_) {
            emit_internal(main_, OpKind::notify, to.issued, ++to.issues);
            emit_internal(to.agent, OpKind::wait, to.issued, to.issues);
            to.main_ops_seen = main_ops_;
        }
        return to.agent;
    }

    // The issuing unit goes on when all pipes are empty.
    void drain() {
        for (const Pipe pipe : kBesidePipes) {
            Lane& from = lane(pipe);
            if (from.agent == kNone) continue;
            const std::size_t ops = model_.agents[from.agent].ops.size();
            if (ops == from.ops_drained) continue;
            emit_internal(from.agent, OpKind::notify, from.drained, ++from.drains);
            emit_internal(main_, OpKind::wait, from.drained, from.drains);
            from.ops_drained = ops + 1;
        }
    }

    void emit(AgentId agent, const Op& op) {
        model_.agents[agent].ops.push_back(op);
        ++ops_;
        if (agent == main_ && op.origin != Origin::issue) ++main_ops_;
        if (op.kind == OpKind::notify) {
            insert_once(model_.cells[op.cell].writers, agent);
        } else if (op.kind == OpKind::wait) {
            insert_once(model_.cells[op.cell].waiters, agent);
        }
    }

    void emit_data(AgentId agent, Origin origin, std::uint32_t index) {
        Op op;
        op.origin = origin;
        op.call = call_;
        op.index = index;
        emit(agent, op);
    }

    void emit_internal(AgentId agent, OpKind kind, CellId cell, std::int64_t value) {
        Op op;
        op.kind = kind;
        op.origin = Origin::issue;
        op.call = call_;
        op.cell = cell;
        op.value = value;
        emit(agent, op);
    }

    // A flag is a counter: the k-th wait_flag takes what the k-th set_flag left.
    void emit_flag(AgentId agent, std::uint32_t index, OpKind kind, CellId cell) {
        Op op;
        op.kind = kind;
        op.is_flag = true;
        op.call = call_;
        op.index = index;
        op.cell = cell;
        op.value = ++flag_counts_[{cell, kind}];
        emit(agent, op);
    }

    CellId flag(Pipe from, Pipe to, std::uint8_t event) {
        const auto [found, is_new] = flags_.try_emplace({from, to, event}, kNone);
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

    void emit_notify(AgentId agent, std::uint32_t index, const Notify& notify) {
        if (storage_of(notify.cell.buffer).first_region != kNone) {
            emit_data(agent, Origin::line, index);
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
        emit(agent, op);
    }

    void emit_wait(AgentId agent, std::uint32_t index, const Wait& wait) {
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
        emit(agent, op);
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
    AgentId main_ = kNone;
    std::size_t main_ops_ = 0;
    std::uint64_t ops_ = 0;
    std::array<Lane, static_cast<std::size_t>(Pipe::all) + 1> lanes_;
    std::map<std::tuple<Pipe, Pipe, std::uint8_t>, CellId> flags_;
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
