// SPDX-License-Identifier: Apache-2.0
#include "check/crosscheck/naive_program.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "check/crosscheck/naive_bytes.hpp"

namespace peal::test {
namespace {

using How = NaiveAccess::How;
using Kind = NaiveStep::Kind;

// No buffer has this name; other memory comes first.
std::string tile_name(std::size_t lane) { return "~" + std::to_string(lane); }

Pipe pipe_of(const Instruction& instruction) {
    Pipe pipe = instruction.pipe;
    if (const auto* set = std::get_if<SetFlag>(&instruction.action)) pipe = set->from;
    if (const auto* wait = std::get_if<WaitFlag>(&instruction.action)) pipe = wait->to;
    return pipe == Pipe::none || pipe == Pipe::all ? Pipe::scalar : pipe;
}

void touch(NaiveStep& step, ByteRange place, How how, std::uint32_t of = 0) {
    for (std::uint32_t i = 0; i < place.length; ++i) {
        step.accesses.push_back({how, place.begin + i, of});
    }
}

// Whether every value that satisfies one wait satisfies the other. They change their minds at their
// own values only.
bool implies(Compare a, std::int64_t x, Compare b, std::int64_t y) {
    constexpr std::int64_t kFar = std::int64_t{1} << 50;
    for (const std::int64_t value : {-kFar, x - 1, x, x + 1, y - 1, y, y + 1, kFar}) {
        if (compares(value, a, x) && !compares(value, b, y)) return false;
    }
    return true;
}

}  // namespace

NaiveProgram::NaiveProgram(const std::vector<CheckStage>& stages, int calls, MemoryOrder order)
    : is_repeated(calls > 1),
      stages_(stages),
      calls_(static_cast<std::uint32_t>(calls) * static_cast<std::uint32_t>(stages.size())),
      order_(order) {
    place_memory();
    find_elements();
    for (const Plan& plan : *stages[0].plans) add_rank(plan.rank);
    find_stale_waits();
    find_drift();
    for (const auto& [flag, balance] : flag_balance_) has_uneven_flags |= balance != 0;
}

const std::string& NaiveProgram::memory(std::size_t stage, std::uint16_t buffer) const {
    const CheckStage& of = stages_[stage];
    return of.memory.empty() ? (*of.plans)[0].buffers[buffer].name : of.memory[buffer];
}

void NaiveProgram::add_bytes(const std::string& name, int rank, std::uint64_t length) {
    ByteRange& place = places_[{name, rank}];
    place.length = std::max(place.length, static_cast<std::uint32_t>(length));
}

void NaiveProgram::place_memory() {
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
        for (const Plan& plan : *stages_[stage].plans) {
            has_lanes |= !plan.lanes.empty();
            for (std::size_t lane = 0; lane <= plan.lanes.size(); ++lane) {
                add_bytes(tile_name(lane), plan.rank, plan.tile_bytes);
            }
            for (std::uint16_t b = 0; b < plan.buffers.size(); ++b) {
                if (plan.buffers[b].kind == BufferKind::signal) continue;
                add_bytes(memory(stage, b), plan.rank, plan.buffers[b].bytes);
            }
        }
    }
    for (auto& [name, place] : places_) {
        place.begin = bytes;
        bytes += place.length;
        for (std::uint32_t i = 0; i < place.length; ++i) offsets_.push_back(i);
    }
}

ByteRange NaiveProgram::place(std::uint32_t call, std::uint16_t buffer, int rank,
                              std::uint64_t offset, std::uint64_t length) const {
    const ByteRange all = places_.at({memory(call % stages_.size(), buffer), rank});
    return {all.begin + static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length)};
}

ByteRange NaiveProgram::window(std::uint32_t call, const std::string& name, int rank) const {
    const std::vector<Buffer>& buffers =
        (*stage(call).plans)[static_cast<std::size_t>(rank)].buffers;
    std::uint16_t b = 0;
    while (buffers[b].kind != BufferKind::window || buffers[b].name != name) ++b;
    return place(call, b, rank, 0, buffers[b].bytes);
}

void NaiveProgram::find_elements() {
    const auto meet = [&](Element element) {
        is_computable = is_computable && test::is_computable(element);
        has_floats = has_floats || is_float(element);
    };
    for (const CheckStage& stage : stages_) {
        for (const Plan& plan : *stage.plans) {
            for (const Instruction& instruction : plan.instructions) {
                if (const auto* reduce = std::get_if<Reduce>(&instruction.action)) {
                    meet(reduce->element);
                } else if (const auto* sum = std::get_if<Accumulate>(&instruction.action)) {
                    meet(sum->element);
                } else if (const auto* map = std::get_if<Map>(&instruction.action)) {
                    if (map->op != MapOp::clobber) meet(map->element);
                    if (map->op == MapOp::convert) meet(map->from);
                }
            }
        }
    }
}

// ---------------------------------------------------------------------------- steps

void NaiveProgram::add_rank(int rank) {
    Units units;
    int order = 0;
    for (std::uint32_t call = 0; call < calls_; ++call) add_call(rank, call, units, order);
    for (auto& [unit, agent] : units) {
        agent.rank = rank;
        agent.lane = unit.first;
        agent.is_scalar = unit.second == static_cast<int>(Pipe::scalar);
        agents.push_back(std::move(agent));
    }
}

void NaiveProgram::add_call(int rank, std::uint32_t call, Units& units, int& order) {
    const Plan& plan = (*stage(call).plans)[static_cast<std::size_t>(rank)];
    const auto add = [&](std::size_t lane, Pipe pipe, NaiveStep step) {
        step.number = steps++;
        step.call = call;
        step.rank = rank;
        step.lane = lane;
        step.order = order++;
        units[{lane, static_cast<int>(pipe)}].steps.push_back(std::move(step));
    };
    // Issued in its turn, done by somebody who does nothing else.
    const auto defer = [&](std::size_t lane, const Instruction& instruction) {
        constexpr int kDeferred = 1000;
        NaiveStep step = step_of(instruction, rank, lane, call);
        step.number = steps++;
        step.lane = lane;
        step.order = order;
        NaiveAgent& agent = units[{lane, kDeferred + order++}];
        agent.group = instruction.group;
        agent.steps = {std::move(step)};
    };
    const auto call_caller = [&](Kind kind) {
        NaiveStep step;
        step.kind = kind;
        step.is_caller = true;
        add_caller(step, rank, call);
        add(0, Pipe::scalar, std::move(step));
    };
    call_caller(Kind::stages);
    std::size_t lane = 0;
    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
        while (lane < plan.lanes.size() && plan.lanes[lane] <= i) ++lane;
        const Instruction& instruction = plan.instructions[i];
        if (instruction.group != 0 && instruction.group != kCached) {
            defer(lane, instruction);
        } else {
            add(lane, pipe_of(instruction), step_of(instruction, rank, lane, call));
        }
    }
    call_caller(Kind::consumes);
}

void NaiveProgram::add_caller(NaiveStep& step, int rank, std::uint32_t call) const {
    const bool enters = step.kind == Kind::stages;
    const How how = enters ? How::write : How::read;
    const Plan& plan = (*stage(call).plans)[static_cast<std::size_t>(rank)];
    for (const auto& [name, place] : places_) {
        if (enters && name.first[0] == '~' && name.second == rank) touch(step, place, How::write);
    }
    for (std::uint16_t b = 0; b < plan.buffers.size(); ++b) {
        const Buffer& buffer = plan.buffers[b];
        if (buffer.kind != BufferKind::argument) continue;
        if (!enters && buffer.direction == Direction::in) continue;
        touch(step, place(call, b, rank, 0, buffer.bytes), how);
    }
    for (const Held& held : stage(call).holds) {
        if (enters && held.what != Held::What::fresh) {
            touch(step, window(call, held.window, rank), how);
        }
    }
    const Meaning* meaning = stage(call).meaning;
    if (!meaning) return;
    if (enters) {
        for (const Staged& staged : meaning->staged) {
            if (staged.rank != rank) continue;
            touch(step, place(call, staged.buffer, rank, staged.offset, staged.length), how);
        }
    } else {
        for (const Expected& output : meaning->outputs) {
            if (output.rank != rank) continue;
            touch(step, place(call, output.buffer, rank, output.offset, output.length), how);
        }
    }
}

std::int64_t NaiveProgram::generation(const std::string& name, std::uint32_t call) const {
    std::int64_t generation = 0;
    for (std::uint32_t before = 0; before < call; ++before) {
        const Plan& plan = (*stage(before).plans)[0];
        for (std::uint16_t b = 0; b < plan.buffers.size(); ++b) {
            if (memory(before % stages_.size(), b) == name) generation += plan.advance[b];
        }
    }
    return generation;
}

std::uint32_t NaiveProgram::cell_of(std::uint32_t call, const Cell& cell) {
    const Buffer& buffer = (*stage(call).plans)[0].buffers[cell.buffer];
    const std::string& name = memory(call % stages_.size(), cell.buffer);
    const std::uint64_t at = cell.index * buffer.cell_stride;
    const auto number = static_cast<std::uint32_t>(cells.size());
    const auto [found, is_new] = cell_numbers_.try_emplace({name, cell.rank, at}, number);
    if (is_new) {
        NaiveCell info;
        info.is_narrow = buffer.element == Element::i32;
        cells.push_back(info);
        const auto line = static_cast<std::uint32_t>(line_numbers_.size());
        lines_.push_back(
            line_numbers_.try_emplace({name, cell.rank, at / kCacheLineBytes}, line).first->second);
    }
    return found->second;
}

NaiveStep NaiveProgram::step_of(const Instruction& instruction, int rank, std::size_t lane,
                                std::uint32_t call) {
    NaiveStep step;
    step.lane = lane;
    step.action = &instruction.action;
    step.call = call;
    step.rank = rank;
    step.drains = instruction.pipe == Pipe::all;
    const auto set_signal = [&](Kind kind, const Cell& cell, const Value& value) {
        step.kind = kind;
        step.cell = cell_of(call, cell);
        step.value =
            value.constant +
            value.per_generation * generation(memory(call % stages_.size(), cell.buffer), call);
    };
    const auto set_flag = [&](Kind kind, const Flag& flag) {
        step.kind = kind;
        step.cell = flag_numbers_.try_emplace(flag, flags).first->second;
        flags = static_cast<std::uint32_t>(flag_numbers_.size());
        flag_balance_[flag] += kind == Kind::set_flag ? 1 : -1;
    };
    if (const auto* notify = std::get_if<Notify>(step.action)) {
        set_signal(Kind::notify, notify->cell, notify->value);
        cells[step.cell].is_added |= notify->op == NotifyOp::add;
        step.accesses.push_back({How::notify, lines_[step.cell], step.cell});
        if (notify->op == NotifyOp::set) {
            step.accesses.push_back({How::put_line, lines_[step.cell], step.cell});
        }
    } else if (const auto* wait = std::get_if<Wait>(step.action)) {
        set_signal(Kind::wait, wait->cell, wait->value);
        cells[step.cell].is_awaited = true;
    } else if (const auto* set = std::get_if<SetFlag>(step.action)) {
        set_flag(Kind::set_flag, {rank, lane, set->from, set->to, set->event});
    } else if (const auto* take = std::get_if<WaitFlag>(step.action)) {
        set_flag(Kind::wait_flag, {rank, lane, take->from, take->to, take->event});
    } else if (const auto* fence = std::get_if<Fence>(step.action)) {
        step.kind = Kind::fence;
        step.group = fence->group;
    } else if (const auto* evict = std::get_if<Evict>(step.action)) {
        step.kind = Kind::evict;
        const std::uint64_t first = evict->range.offset / kCacheLineBytes * kCacheLineBytes;
        const std::uint64_t last = evict->range.offset + evict->range.length;
        const std::uint64_t end = (last + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
        const ByteRange all =
            places_.at({memory(call % stages_.size(), evict->range.buffer), evict->range.rank});
        if (last > first && evict->range.length > 0) {
            step.evicted = {
                all.begin + static_cast<std::uint32_t>(first),
                static_cast<std::uint32_t>(std::min<std::uint64_t>(end, all.length) - first)};
        }
    } else if (!std::holds_alternative<PipeBarrier>(*step.action)) {
        step.kind = Kind::data;
        step.is_cached = instruction.group == kCached;
        step.is_fenced = order_ == MemoryOrder::fenced && instruction.group == 0 &&
                         instruction.pipe != Pipe::none;
        fill_data(step);
    }
    return step;
}

// Which part of a window it is may depend on the call.
std::uint64_t NaiveProgram::offset_in(const NaiveStep& step, const Range& range) const {
    if (range.shift == 0) return range.offset;
    const Plan& plan = (*stage(step.call).plans)[static_cast<std::size_t>(step.rank)];
    const std::string& signal = memory(step.call % stages_.size(), plan.turns.signal);
    const auto turn = static_cast<std::uint64_t>(generation(signal, step.call)) /
                      static_cast<std::uint64_t>(plan.turns.every);
    return range.offset + plan.turns.shifts.at(range.shift - 1U).by.at(turn % plan.turns.count);
}

void NaiveProgram::fill_data(NaiveStep& step) {
    const auto at = [&](const Range& range) {
        if (range.buffer == kTile) {
            const ByteRange all = places_.at({tile_name(step.lane), range.rank});
            return ByteRange{all.begin + static_cast<std::uint32_t>(range.offset),
                             static_cast<std::uint32_t>(range.length)};
        }
        return place(step.call, range.buffer, range.rank, offset_in(step, range), range.length);
    };
    How how = How::write;
    std::uint32_t of = 0;
    if (const auto* copy = std::get_if<Copy>(step.action)) {
        step.dst = at(copy->dst);
        step.src = {at(copy->src)};
    } else if (const auto* reduce = std::get_if<Reduce>(step.action)) {
        step.dst = at(reduce->dst);
        for (const Range& source : reduce->src) step.src.push_back(at(source));
    } else if (const auto* sum = std::get_if<Accumulate>(step.action)) {
        step.dst = at(sum->dst);
        step.src = {at(sum->src)};
        how = How::add;
        of = static_cast<std::uint32_t>(sum->element);
        const Plan& plan = (*stage(step.call).plans)[0];
        step.adds_to_window =
            sum->dst.buffer != kTile && plan.buffers[sum->dst.buffer].kind == BufferKind::window;
    } else if (const auto* map = std::get_if<Map>(step.action)) {
        step.dst = at(map->dst);
        if (map->op != MapOp::fill && map->op != MapOp::clobber) step.src = {at(map->src)};
    }
    touch(step, step.dst, how, of);
    for (const ByteRange& source : step.src) touch(step, source, How::read);
}

// ---------------------------------------------------------------------------- signals

// The wait asks for no more than one of an earlier call of its rank did.
void NaiveProgram::find_stale_waits() {
    for (NaiveAgent& agent : agents) {
        for (NaiveStep& step : agent.steps) {
            if (step.kind != Kind::wait) continue;
            const auto& wait = std::get<Wait>(*step.action);
            const bool is_entry = wait.value.per_generation != 0 && wait.value.constant <= 0;
            if (is_entry || compares(0, wait.compare, step.value)) continue;
            for (const NaiveAgent& other : agents) {
                for (const NaiveStep& earlier : other.steps) {
                    if (earlier.kind != Kind::wait || earlier.rank != step.rank ||
                        earlier.cell != step.cell || earlier.call >= step.call) {
                        continue;
                    }
                    step.may_be_stale |= implies(std::get<Wait>(*earlier.action).compare,
                                                 earlier.value, wait.compare, step.value);
                }
            }
        }
    }
}

// By how much a cell grows in each round of calls is one number, for all who wait and set.
void NaiveProgram::find_drift() {
    std::vector<std::set<std::int64_t>> grows(cells.size());
    const auto round = static_cast<std::uint32_t>(stages_.size());
    const auto slope = [&](const NaiveStep& step, const Cell& cell, const Value& value) {
        return value.per_generation * generation(memory(step.call % round, cell.buffer), round);
    };
    for (const NaiveAgent& agent : agents) {
        for (const NaiveStep& step : agent.steps) {
            if (step.kind == Kind::wait) {
                const auto& wait = std::get<Wait>(*step.action);
                grows[step.cell].insert(slope(step, wait.cell, wait.value));
                cells[step.cell].expected_end =
                    slope(step, wait.cell, wait.value) * (calls_ / round);
            } else if (step.kind == Kind::notify && cells[step.cell].is_awaited) {
                const auto& notify = std::get<Notify>(*step.action);
                const std::int64_t by = slope(step, notify.cell, notify.value);
                if (notify.op == NotifyOp::set) {
                    grows[step.cell].insert(by);
                } else if (by != 0) {
                    cells[step.cell].has_drift = true;
                }
            }
        }
    }
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i].has_drift |= grows[i].size() > 1;
}

}  // namespace peal::test
