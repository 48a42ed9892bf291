// SPDX-License-Identifier: Apache-2.0
#include "check/model.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "check/condition.hpp"
#include "check/fence_reach.hpp"
#include "check/meter.hpp"

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
    RankWriter(Model& model, std::int32_t rank, MemoryOrder order)
        : model_(model), rank_(rank), is_fenced_(order == MemoryOrder::fenced) {
        for (const CheckStage& stage : *model.stages) {
            const Plan& plan = (*stage.plans)[static_cast<std::size_t>(rank)];
            while (lanes_.size() < plan.lane_count()) add_lane();
            for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
                use_pipe(plan.lane_of(i), plan::pipe_of(plan.instructions[i]));
            }
        }
        // Turns move what the cache holds.
        const auto calls = std::max(model.stages->size(), model.turned.size());
        for (std::uint32_t call = 0; call < calls; ++call) note_call(call);
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
            begin_completion(lanes_[l]);
            for (std::size_t i = plan.lane_begin(l); i < plan.lane_end(l); ++i) {
                write(lanes_[l], plan.instructions[i], static_cast<std::uint32_t>(i));
            }
            drain(lanes_[l]);
            complete_all(lanes_[l]);
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
    // A pipe or another engine: what was issued to it and has not been done.
    struct Queue {
        AgentId agent = kNone;
        Counter issued, drained;        // between it and the issuing unit
        std::size_t main_ops_seen = 0;  // the issuing unit's ops that it is ordered after
        std::size_t ops_drained = 0;
    };
    // Work of one group that is not complete; none of it touches what other work of it changes, so
    // the order in which it is done makes no difference.
    struct Deferred {
        Queue queue;
        std::vector<const Instruction*> outstanding;
    };
    // What a unit stored, on its way to the others.
    struct StoreWay {
        AgentId agent = kNone;
        Counter stored;                  // runs of stores, by the unit
        CellId visible = kNone;          // how many stores have arrived
        std::int64_t sent = 0;           // stores that the unit has counted
        std::int64_t fenced = 0;         // stores that the issuing unit has waited for
        std::int64_t before = 0;         // stores that were sent before this call
        std::vector<std::uint32_t> run;  // instructions that have not been counted
    };
    // A line of the cache.
    struct Line {
        AgentId writer = kNone, reader = kNone;
        Counter written;           // by the issuing unit
        CellId in_memory = kNone;  // how many of these have arrived
        std::int64_t evicted = 0;  // of these, before the last eviction
        std::int64_t fenced = 0;   // of these, those that were waited for
        Counter forgotten, taken;  // before and after the line is taken from memory
        std::int64_t heard = 0;    // of `forgotten`, by the reader
    };
    using LineName = std::pair<RegionId, std::uint64_t>;

    struct Lane {
        AgentId main = kNone;
        std::uint32_t number = 0;
        std::size_t main_ops = 0;
        Counter begun, ended;  // calls, between it and the caller; of the first lane unused
        std::array<Queue, static_cast<std::size_t>(Pipe::all) + 1> queues;
        std::map<std::tuple<Pipe, Pipe, std::uint8_t>, CellId> flags;
        std::map<std::uint16_t, std::vector<Deferred>> deferred;  // by group
        std::array<StoreWay, static_cast<std::size_t>(Pipe::all) + 1> ways;
        std::map<LineName, Line> lines;
        std::vector<std::vector<StoreCounts>> reach;  // by stage, of its fences
        std::size_t fences = 0;                       // of group 0, in this call so far
    };

    // `core` is the lane's issuing unit; kNone: this is it.
    AgentId add_agent(std::uint32_t lane, Pipe pipe, AgentId core, bool is_apart = false) {
        const auto id = static_cast<AgentId>(model_.agents.size());
        model_.agents.push_back({rank_, lane, pipe, {}, core == kNone ? id : core, is_apart});
        return id;
    }
    AgentId add_apart(const Lane& lane) {
        return add_agent(lane.number, Pipe::none, lane.main, true);
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
        lane.main = add_agent(lane.number, Pipe::scalar, kNone);
        if (lane.number == 0) return;
        lane.begun.cell = add_cell(CellRole::issue);
        lane.ended.cell = add_cell(CellRole::issue);
    }

    static Queue& queue(Lane& lane, Pipe pipe) {
        return lane.queues[static_cast<std::size_t>(pipe)];
    }

    Counter add_counter() { return {add_cell(CellRole::issue), 0}; }

    Queue add_queue(AgentId agent) {
        Queue added;
        added.agent = agent;
        added.issued = add_counter();
        added.drained = add_counter();
        return added;
    }

    void use_pipe(std::size_t number, Pipe pipe) {
        if (!plan::is_beside(pipe)) return;
        Lane& lane = lanes_[number];
        if (queue(lane, pipe).agent != kNone) return;
        queue(lane, pipe) = add_queue(add_agent(lane.number, pipe, lane.main));
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
        } else if (const auto* fence = std::get_if<Fence>(&instruction.action)) {
            complete(lane, fence->group);
            emit_data(lane, lane.main, Origin::instruction, index);
        } else if (const auto* evict = std::get_if<Evict>(&instruction.action)) {
            emit_data(lane, lane.main, Origin::instruction, index);
            evict_lines(lane, evict->range);
        } else if (instruction.group == kCached) {
            write_cached(lane, instruction, index);
        } else if (instruction.group != 0) {
            emit_data(lane, defer(lane, instruction), Origin::instruction, index);
        } else {
            emit_data(lane, agent, Origin::instruction, index);
            if (is_fenced_ && stores_on_pipe(instruction)) note_store(lane, instruction, index);
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
            if (queue(lane, pipe).agent != kNone) drain(lane, queue(lane, pipe));
        }
    }
    void drain(Lane& lane, Queue& from) {
        const std::size_t ops = model_.agents[from.agent].ops.size();
        if (ops == from.ops_drained) return;
        tell(lane, from.agent, from.drained);
        hear(lane, lane.main, from.drained);
        from.ops_drained = model_.agents[from.agent].ops.size();
    }

    // ---- completion: docs/proof.md, "Work that is complete later"

    void note_call(std::uint32_t call) {
        call_ = call;
        const Plan& plan = model_.plan(call, rank_);
        for (std::size_t l = 0; l < lanes_.size(); ++l) {
            const bool has_lane = l < plan.lane_count();
            const std::size_t begin = has_lane ? plan.lane_begin(l) : 0;
            const std::size_t end = has_lane ? plan.lane_end(l) : 0;
            note_cached(lanes_[l], plan, begin, end);
            if (call >= model_.stages->size()) continue;  // its fences are where they were
            lanes_[l].reach.push_back(is_fenced_ ? reach_of_fences(plan, begin, end)
                                                 : std::vector<StoreCounts>());
        }
    }

    void begin_completion(Lane& lane) {
        lane.fences = 0;
        for (StoreWay& way : lane.ways) way.before = way.sent;
        for (auto& [name, line] : lane.lines) {
            if (line.reader != kNone) tell(lane, lane.main, line.forgotten);
        }
    }

    void complete(Lane& lane, std::uint16_t group) {
        if (group == 0) return complete_visible(lane);
        for (Deferred& deferred : lane.deferred[group]) {
            drain(lane, deferred.queue);
            deferred.outstanding.clear();
        }
    }

    // What the pipes are known to have stored, and what the cache has given up.
    void complete_visible(Lane& lane) {
        if (is_fenced_) {
            send_stores(lane, lane.main);
            const StoreCounts& known = lane.reach[model_.stage_of(call_)][lane.fences++];
            for (std::size_t unit = 0; unit < lane.ways.size(); ++unit) {
                wait_for_stores(lane, lane.ways[unit], lane.ways[unit].before + known[unit]);
            }
        }
        for (auto& [name, line] : lane.lines) wait_for_line(lane, line);
    }

    // A call ends when everything is complete, whatever was fenced.
    void complete_all(Lane& lane) {
        for (auto& [group, list] : lane.deferred) complete(lane, group);
        send_stores(lane, lane.main);
        for (StoreWay& way : lane.ways) wait_for_stores(lane, way, way.sent);
        for (auto& [name, line] : lane.lines) {
            line.evicted = line.written.count;
            wait_for_line(lane, line);
        }
    }

    // ---- deferred

    AgentId defer(Lane& lane, const Instruction& instruction) {
        std::vector<Deferred>& list = lane.deferred[instruction.group];
        auto free = std::find_if(list.begin(), list.end(), [&](const Deferred& deferred) {
            return std::none_of(
                deferred.outstanding.begin(), deferred.outstanding.end(),
                [&](const Instruction* other) { return may_clash(*other, instruction); });
        });
        if (free == list.end()) {
            list.push_back({add_queue(add_apart(lane)), {}});
            free = list.end() - 1;
        }
        free->outstanding.push_back(&instruction);
        return issue(lane, free->queue);
    }

    static bool may_clash(const Instruction& a, const Instruction& b) {
        bool clash = false;
        const auto meet = [&](const Range& range, bool changes) {
            const auto with = [&](const Range& other) { clash |= plan::overlaps(range, other); };
            plan::for_each_access(
                b.action,
                [&](const Range& other) {
                    if (changes) with(other);
                },
                with, with);
        };
        const auto* sum = std::get_if<Accumulate>(&a.action);
        const auto* other = std::get_if<Accumulate>(&b.action);
        plan::for_each_access(
            a.action, [&](const Range& range) { meet(range, false); },
            [&](const Range& range) { meet(range, true); },
            [&](const Range& range) {
                // Sums of one type meet without harm, but neither's source may be added to.
                if (other && other->element == sum->element) {
                    clash |= plan::overlaps(range, other->src);
                } else {
                    meet(range, true);
                }
            });
        return clash;
    }

    // ---- stores that are visible after a fence

    void note_store(Lane& lane, const Instruction& instruction, std::uint32_t index) {
        StoreWay& way = lane.ways[unit_of(instruction)];
        if (way.agent == kNone) {
            way.agent = add_apart(lane);
            way.stored = add_counter();
            way.visible = add_cell(CellRole::issue);
        }
        way.run.push_back(index);
        const auto see = [&](const Range& range) {
            if (plan::is_tile(range) || range.length == 0) return;
            add_view(lane, RegionKind::unfenced, region_of(range), range.offset,
                     plan::end_of(range));
        };
        plan::for_each_access(
            instruction.action, [](const Range&) {}, see, see);
    }

    // Before the unit tells or learns anything: what it stored since then goes on its way.
    void send_stores(Lane& lane, AgentId unit) {
        for (std::size_t p = 0; p < lane.ways.size(); ++p) {
            StoreWay& way = lane.ways[p];
            const bool is_main = p == static_cast<std::size_t>(Pipe::scalar);
            if (way.run.empty() || (is_main ? lane.main : lane.queues[p].agent) != unit) continue;
            const std::vector<std::uint32_t> run = std::exchange(way.run, {});
            tell(lane, unit, way.stored);
            hear(lane, way.agent, way.stored);
            for (const std::uint32_t index : run) {
                emit_data(lane, way.agent, Origin::visible, index);
            }
            way.sent += static_cast<std::int64_t>(run.size());
            emit_internal(lane, way.agent, OpKind::notify, way.visible, way.sent);
        }
    }

    void wait_for_stores(Lane& lane, StoreWay& way, std::int64_t count) {
        if (count <= way.fenced) return;
        emit_internal(lane, lane.main, OpKind::wait, way.visible, count);
        way.fenced = count;
    }

    // ---- the cache

    template <class Each>
    static void for_each_line(const Range& range, Each&& each) {
        if (plan::is_tile(range) || range.length == 0) return;
        for (std::uint64_t line = range.offset / kCacheLineBytes;
             line * kCacheLineBytes < plan::end_of(range); ++line) {
            each(line);
        }
    }

    // Lines that the calls of a stage read or write through the cache.
    void note_cached(Lane& lane, const Plan& plan, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (plan.instructions[i].group != kCached) continue;
            plan::for_each_access(
                plan.instructions[i].action,
                [&](const Range& range) { note_lines(lane, range, true); },
                [&](const Range& range) { note_lines(lane, range, false); });
        }
    }
    void note_lines(Lane& lane, const Range& range, bool is_read) {
        for_each_line(range, [&](std::uint64_t number) {
            Line& line = lane.lines[{region_of(range), number}];
            if (is_read && line.reader == kNone) {
                line.reader = add_apart(lane);
                line.forgotten = add_counter();
                line.taken = add_counter();
            } else if (!is_read && line.writer == kNone) {
                line.writer = add_apart(lane);
                line.written = add_counter();
                line.in_memory = add_cell(CellRole::issue);
            }
            add_view(lane, is_read ? RegionKind::cached_reads : RegionKind::cached_writes,
                     region_of(range), range.offset, plan::end_of(range));
        });
    }

    void write_cached(Lane& lane, const Instruction& instruction, std::uint32_t index) {
        plan::for_each_access(
            instruction.action, [&](const Range& range) { take_lines(lane, range, index); },
            [](const Range&) {});
        emit_data(lane, lane.main, Origin::instruction, index);
        plan::for_each_access(
            instruction.action, [](const Range&) {},
            [&](const Range& range) { write_lines(lane, range, index); });
    }

    // The cache took them at some time since it forgot what it had.
    void take_lines(Lane& lane, const Range& range, std::uint32_t index) {
        for_each_line(range, [&](std::uint64_t number) {
            Line& line = lane.lines.at({region_of(range), number});
            if (line.heard != line.forgotten.count) hear(lane, line.reader, line.forgotten);
            line.heard = line.forgotten.count;
            emit_line(lane, line.reader, Origin::early, index, {region_of(range), number});
            tell(lane, line.reader, line.taken);
            hear(lane, lane.main, line.taken);
        });
    }

    void write_lines(Lane& lane, const Range& range, std::uint32_t index) {
        for_each_line(range, [&](std::uint64_t number) {
            Line& line = lane.lines.at({region_of(range), number});
            tell(lane, lane.main, line.written);
            hear(lane, line.writer, line.written);
            emit_line(lane, line.writer, Origin::visible, index, {region_of(range), number});
            emit_internal(lane, line.writer, OpKind::notify, line.in_memory, line.written.count);
        });
    }

    void evict_lines(Lane& lane, const Range& range) {
        for_each_line(range, [&](std::uint64_t number) {
            const auto found = lane.lines.find({region_of(range), number});
            if (found == lane.lines.end()) return;
            Line& line = found->second;
            line.evicted = line.written.count;
            if (line.reader != kNone) tell(lane, lane.main, line.forgotten);
        });
    }

    void wait_for_line(Lane& lane, Line& line) {
        if (line.evicted <= line.fenced) return;
        emit_internal(lane, lane.main, OpKind::wait, line.in_memory, line.evicted);
        line.fenced = line.evicted;
    }

    // ---- views

    RegionId region_of(const Range& range) const {
        return model_.region(call_, range.buffer, range.rank);
    }

    void add_view(const Lane& lane, RegionKind kind, RegionId base, std::uint64_t begin,
                  std::uint64_t end) {
        if (model_.views.size() <= base) model_.views.resize(base + 1);
        std::vector<View>& views = model_.views[base];
        const auto known = std::find_if(views.begin(), views.end(), [&](const View& view) {
            return view.kind == kind && view.core == lane.main;
        });
        if (known != views.end()) {
            known->begin = std::min(known->begin, begin);
            known->end = std::max(known->end, end);
            return;
        }
        Region region = model_.regions[base];
        region.kind = kind;
        views.push_back(
            {kind, lane.main, static_cast<RegionId>(model_.regions.size()), begin, end});
        model_.regions.push_back(std::move(region));
    }

    // ---- ops

    void emit(Lane& lane, AgentId agent, const Op& op) {
        if (op.kind != OpKind::data) send_stores(lane, agent);
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

    void emit_line(Lane& lane, AgentId agent, Origin origin, std::uint32_t index,
                   const LineName& line) {
        Op op;
        op.origin = origin;
        op.call = call_;
        op.index = index;
        op.cell = line.first;
        op.value = static_cast<std::int64_t>(line.second);
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
    bool is_fenced_;
    std::uint32_t call_ = 0;
    std::uint64_t ops_ = 0;
    std::vector<Lane> lanes_;
    std::map<std::pair<CellId, OpKind>, std::int64_t> flag_counts_;
    std::map<CellId, Asked> asked_;
};

}  // namespace

void write_rank(Model& model, std::int32_t rank, MemoryOrder order, Meter& meter) {
    RankWriter writer(model, rank, order);
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
