// SPDX-License-Identifier: Apache-2.0
#include "plan/faults.hpp"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "plan/arithmetic.hpp"
#include "plan/names.hpp"
#include "plan/titles.hpp"
#include "plan/turns.hpp"

namespace peal::plan {
namespace {

using Kind = PlanFault::Kind;
using Faults = std::vector<PlanFault>;

template <class... Args>
void add_plan_fault(Faults& faults, const Plan& plan, Kind kind, fmt::format_string<Args...> format,
                    Args&&... args) {
    PlanFault& fault = faults.emplace_back();
    fault.kind = kind;
    fault.where = plan_title(plan);
    fault.message = fmt::format(format, std::forward<Args>(args)...);
}

template <class... Args>
void add_buffer_fault(Faults& faults, const Plan& plan, std::size_t b, Kind kind,
                      fmt::format_string<Args...> format, Args&&... args) {
    const std::string& name = plan.buffers[b].name;
    add_plan_fault(faults, plan, kind, format, std::forward<Args>(args)...);
    faults.back().buffer = b;
    faults.back().memory = name;
    faults.back().where += fmt::format(", buffer '{}'", name);
}

// ---------------------------------------------------------------------------- buffers

void add_signal_fault(Faults& faults, const Plan& plan, std::size_t b) {
    const Buffer& buffer = plan.buffers[b];
    const std::uint64_t size = bytes_of(buffer.element);
    const std::int64_t advance = plan.advance[b];
    if (buffer.element != Element::i32 && buffer.element != Element::i64) {
        add_buffer_fault(faults, plan, b, Kind::buffer, "signals are i32 or i64, found {}",
                         name(buffer.element));
    } else if (buffer.cell_stride < size || buffer.cell_stride % size != 0) {
        add_buffer_fault(faults, plan, b, Kind::buffer,
                         "cells of {} bytes cannot be {} bytes apart: expected a multiple of {}",
                         size, buffer.cell_stride, size);
    } else if (buffer.cells > UINT64_MAX / buffer.cell_stride) {
        add_buffer_fault(faults, plan, b, Kind::buffer,
                         "{} cells, {} bytes apart, do not fit in memory", buffer.cells,
                         buffer.cell_stride);
    } else if (advance < 0 || !fits(advance, buffer.element)) {
        add_buffer_fault(faults, plan, b, Kind::buffer, "a generation of {} cannot advance by {}",
                         name(buffer.element), advance);
    }
}

void add_data_fault(Faults& faults, const Plan& plan, std::size_t b) {
    const Buffer& buffer = plan.buffers[b];
    if (plan.advance[b] != 0) {
        add_buffer_fault(faults, plan, b, Kind::buffer,
                         "only signals have a generation, but it advances by {}", plan.advance[b]);
    } else if (buffer.bytes % bytes_of(buffer.element) != 0) {
        add_buffer_fault(faults, plan, b, Kind::buffer,
                         "{} bytes are no whole number of {} elements", buffer.bytes,
                         name(buffer.element));
    }
}

void add_lane_fault(Faults& faults, const Plan& plan) {
    for (std::size_t lane = 1; lane < plan.lane_count(); ++lane) {
        const std::size_t begin = plan.lane_begin(lane);
        if (begin > plan.instructions.size()) {
            return add_plan_fault(faults, plan, Kind::plan,
                                  "lane {} begins at instruction {}, the plan has {}", lane, begin,
                                  plan.instructions.size());
        }
        if (begin < plan.lane_begin(lane - 1)) {
            return add_plan_fault(faults, plan, Kind::plan,
                                  "lane {} begins at instruction {}, before lane {}, which begins "
                                  "at {}",
                                  lane, begin, lane - 1, plan.lane_begin(lane - 1));
        }
    }
}

void add_turns_fault(Faults& faults, const Plan& plan) {
    const Turns& turns = plan.turns;
    if (turns == Turns{}) return;
    const auto is_kind = [&](std::uint16_t buffer, bool signal) {
        return buffer < plan.buffers.size() &&
               (plan.buffers[buffer].kind == BufferKind::signal) == signal;
    };
    if (turns.count < 2 || turns.count > kMaxTurns || turns.every < 1) {
        return add_plan_fault(faults, plan, Kind::plan,
                              "expected 2..{} turns of one generation or more each, found {} of {}",
                              kMaxTurns, turns.count, turns.every);
    }
    if (!is_kind(turns.signal, true)) {
        return add_plan_fault(faults, plan, Kind::plan,
                              "the turns go by buffer {}, which is not a signal", turns.signal);
    }
    for (const Shift& shift : turns.shifts) {
        if (!is_kind(shift.buffer, false)) {
            return add_plan_fault(faults, plan, Kind::plan,
                                  "a shift is of buffer {}, which has no data", shift.buffer);
        }
        if (shift.by.size() != turns.count) {
            return add_plan_fault(faults, plan, Kind::plan,
                                  "a shift of '{}' has {} entries for {} turns",
                                  plan.buffers[shift.buffer].name, shift.by.size(), turns.count);
        }
    }
}

// Everything but the instructions.
Faults frame_faults(const Plan& plan) {
    Faults faults;
    if (plan.nranks < 1 || plan.rank < 0 || plan.rank >= plan.nranks) {
        add_plan_fault(faults, plan, Kind::plan, "expected a rank in 0..nranks-1");
    } else if (plan.buffers.size() >= kTile) {
        add_plan_fault(faults, plan, Kind::plan, "{} buffers, at most {} are possible",
                       plan.buffers.size(), kTile - 1);
    } else if (plan.advance.size() != plan.buffers.size()) {
        add_plan_fault(faults, plan, Kind::plan, "'advance' has {} entries for {} buffers",
                       plan.advance.size(), plan.buffers.size());
    } else {
        for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
            const bool is_signal = plan.buffers[b].kind == BufferKind::signal;
            (is_signal ? add_signal_fault : add_data_fault)(faults, plan, b);
        }
    }
    if (faults.empty()) add_lane_fault(faults, plan);
    if (faults.empty()) add_turns_fault(faults, plan);
    return faults;
}

Faults instruction_faults(const Plan& plan) {
    Faults faults;
    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
        if (auto fault = fault_of_instruction(plan, i)) faults.push_back(*std::move(fault));
    }
    return faults;
}

// The plan of each turn must be one. Of several turns, the first that is not.
Faults faults_in_turns(const Plan& plan) {
    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
        if (auto fault = fault_of_shifts(plan, i)) return {*std::move(fault)};
    }
    for (std::uint32_t turn = 0; turn < plan.turns.count; ++turn) {
        Faults faults = instruction_faults(in_turn(plan, turn));
        for (PlanFault& fault : faults) fault.message += fmt::format(" (in turn {})", turn);
        if (!faults.empty()) return faults;
    }
    return {};
}

Faults faults_of_instructions(const Plan& plan) {
    return plan.turns == Turns{} ? instruction_faults(plan) : faults_in_turns(plan);
}

// ---------------------------------------------------------------------------- all ranks

// The first thing that two ranks say differently of one buffer; empty: they agree. Arguments are
// private and may differ in size.
std::string difference(const Buffer& here, const Buffer& there) {
    const auto told = [](const auto& found, const auto& expected) {
        return fmt::format("{}, there {}", found, expected);
    };
    if (here.name != there.name) return told(here.name, there.name);
    if (here.kind != there.kind) return told(name(here.kind), name(there.kind));
    if (here.direction != there.direction) return told(name(here.direction), name(there.direction));
    if (here.element != there.element) return told(name(here.element), name(there.element));
    if (here.kind == BufferKind::argument) return {};
    if (here.bytes != there.bytes) return told(fmt::format("{} bytes", here.bytes), there.bytes);
    if (here.cells != there.cells) return told(fmt::format("{} cells", here.cells), there.cells);
    if (here.cell_stride != there.cell_stride) {
        return told(fmt::format("cells {} bytes apart", here.cell_stride), there.cell_stride);
    }
    return {};
}

void add_buffer_disagreements(Faults& faults, const Plan& plan, const Plan& first) {
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        const Buffer& there = first.buffers[b];
        const std::string what = difference(plan.buffers[b], there);
        if (!what.empty()) {
            add_buffer_fault(faults, plan, b, Kind::agreement,
                             "differs from buffer '{}' of rank 0: {}", there.name, what);
        } else if (plan.advance[b] != first.advance[b]) {
            add_buffer_fault(faults, plan, b, Kind::agreement, "advances by {}, on rank 0 by {}",
                             plan.advance[b], first.advance[b]);
        }
    }
}

// Both have as many entries in 'advance' as buffers.
void add_disagreements(Faults& faults, const Plan& plan, const Plan& first) {
    if (plan.kernel != first.kernel) {
        add_plan_fault(faults, plan, Kind::agreement, "rank 0 has a plan of kernel {}",
                       first.kernel);
    } else if (plan.nranks != first.nranks) {
        add_plan_fault(faults, plan, Kind::agreement, "rank 0 expects {} ranks", first.nranks);
    } else if (plan.buffers.size() != first.buffers.size()) {
        add_plan_fault(faults, plan, Kind::agreement, "{} buffers, but rank 0 has {}",
                       plan.buffers.size(), first.buffers.size());
    } else {
        add_buffer_disagreements(faults, plan, first);
    }
}

Faults faults_at(const std::vector<Plan>& plans, std::size_t place) {
    const Plan& plan = plans[place];
    const Plan& first = plans.front();
    Faults faults = frame_faults(plan);
    if (faults.empty() && plan.rank != static_cast<std::int32_t>(place)) {
        add_plan_fault(faults, plan, Kind::agreement, "stands at place {} of the plans", place);
    } else if (faults.empty() && first.advance.size() == first.buffers.size()) {
        add_disagreements(faults, plan, first);
    }
    if (faults.empty()) faults = faults_of_instructions(plan);
    for (PlanFault& fault : faults) fault.place = place;
    return faults;
}

}  // namespace

std::string to_text(const PlanFault& fault) {
    return fault.where.empty() ? fault.message : fault.where + ": " + fault.message;
}

std::vector<PlanFault> faults_of(const Plan& plan) {
    Faults faults = frame_faults(plan);
    return faults.empty() ? faults_of_instructions(plan) : faults;
}

std::vector<PlanFault> faults_of(const std::vector<Plan>& plans) {
    Faults faults;
    if (plans.empty()) {
        faults.emplace_back().message = "there are no plans";
        return faults;
    }
    const Plan& first = plans.front();
    if (static_cast<std::int64_t>(plans.size()) != first.nranks) {
        add_plan_fault(faults, first, Kind::plan, "expected {} plans, found {}", first.nranks,
                       plans.size());
        return faults;
    }
    for (std::size_t place = 0; place < plans.size(); ++place) {
        Faults more = faults_at(plans, place);
        faults.insert(faults.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
    }
    return faults;
}

std::vector<PlanFault> disagreements_of(const std::vector<Plan>& plans) {
    Faults faults;
    for (std::size_t place = 0; place < plans.size(); ++place) {
        const std::size_t first = faults.size();
        add_disagreements(faults, plans[place], plans.front());
        for (std::size_t i = first; i < faults.size(); ++i) faults[i].place = place;
    }
    return faults;
}

}  // namespace peal::plan
