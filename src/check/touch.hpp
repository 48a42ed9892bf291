// SPDX-License-Identifier: Apache-2.0
// Which bytes a data op touches.
#pragma once

#include <algorithm>

#include "check/model.hpp"
#include "check/use.hpp"
#include "plan/access.hpp"

namespace peal::checker {

inline bool is_staged(Direction direction) { return direction != Direction::out; }
inline bool is_consumed(Direction direction) { return direction != Direction::in; }

namespace detail {

template <class Each>
void touch_on_entry(const Model& model, const Op& op, std::int32_t rank, Each&& each) {
    const Plan& plan = model.plan(op.call, rank);
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        const Buffer& buffer = plan.buffers[b];
        if (buffer.kind != BufferKind::argument || buffer.bytes == 0) continue;
        each(model.region(op.call, static_cast<std::uint16_t>(b), rank), 0, buffer.bytes, kWrite);
    }
    for (const Put& put : model.meaning(op.call, rank).puts) {
        if (put.begin == put.end) continue;
        each(model.region(op.call, put.buffer, rank), put.begin, put.end, kWrite);
    }
    for (const RegionId tile : model.tiles[static_cast<std::size_t>(rank)]) {
        if (model.regions[tile].bytes > 0) each(tile, 0, model.regions[tile].bytes, kWrite);
    }
    if (const RegionId entry = model.first_entry[op.call]; entry != kNone) {
        each(entry + static_cast<RegionId>(rank), 0, 1, kWrite);
    }
}

template <class Each>
void touch_on_return(const Model& model, const Op& op, std::int32_t rank, Each&& each) {
    const Plan& plan = model.plan(op.call, rank);
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        const Buffer& buffer = plan.buffers[b];
        if (buffer.kind != BufferKind::argument || buffer.bytes == 0) continue;
        if (!is_consumed(buffer.direction)) continue;
        each(model.region(op.call, static_cast<std::uint16_t>(b), rank), 0, buffer.bytes, kRead);
    }
    for (const Expected* output : model.meaning(op.call, rank).outputs) {
        if (output->length == 0 || plan.buffers[output->buffer].kind != BufferKind::window)
            continue;
        each(model.region(op.call, output->buffer, rank), output->offset,
             output->offset + output->length, kRead);
    }
    if (const RegionId entry = model.first_entry[op.call]; entry != kNone) {
        for (std::int32_t peer = 0; peer < model.nranks; ++peer) {
            if (peer != rank) each(entry + static_cast<RegionId>(peer), 0, 1, kRead);
        }
    }
}

// A `set` puts the whole cache line back: it may undo what others write to their cells in it.
// Between `add`s, and between notifies of one cell, there is no such conflict.
template <class Each>
void touch_line(const Model& model, Event event, Each&& each) {
    const Op& notify = model.agents[event.agent].ops[event.op + 1];
    const Storage& storage = model.storage_of_cell(notify.cell);
    const std::uint64_t number = storage.number_of(notify.cell);
    const auto owner = static_cast<RegionId>(number / storage.cells_per_rank());
    const std::uint64_t mine = number % storage.cells_per_rank() * storage.cell_grain;
    const RegionId region = storage.first_region + owner;
    each(region, mine, mine + storage.cell_grain, kRead);
    if (notify.notify != NotifyOp::set) return;
    const std::uint64_t line = mine / kCacheLineBytes * kCacheLineBytes;
    const std::uint64_t end = std::min(line + kCacheLineBytes, storage.bytes[0]);
    const std::uint64_t first = owner * storage.cells_per_rank();
    for (std::uint64_t at =
             (line + storage.cell_grain - 1) / storage.cell_grain * storage.cell_grain;
         at < end; at += storage.cell_grain) {
        const CellId cell = storage.cell_of(first + at / storage.cell_grain);
        if (at != mine && cell != kNone && !model.cells[cell].writers.empty()) {
            each(region, at, at + storage.cell_grain,
                 use_of_line((mine - line) / storage.cell_grain));
        }
    }
}

// The view of a region that the core's bytes take, or come from.
inline const View& view_of(const Model& model, RegionId region, RegionKind kind, AgentId core) {
    const std::vector<View>& views = model.views[region];
    return *std::find_if(views.begin(), views.end(),
                         [&](const View& view) { return view.kind == kind && view.core == core; });
}

// What the instruction changes in memory, or reads there, as the others know it.
template <class Each>
void touch_views(const Model& model, Event event, Each&& each) {
    const Op& op = model.op(event);
    const Agent& agent = model.agents[event.agent];
    const bool is_early = op.origin == Origin::early;
    const bool is_cached = op.cell != kNone;
    const RegionKind kind = is_early    ? RegionKind::cached_reads
                            : is_cached ? RegionKind::cached_writes
                                        : RegionKind::unfenced;
    const auto touch = [&](const Range& range, const Use& use) {
        if (plan::is_tile(range) || range.length == 0) return;
        const RegionId region = model.region(op.call, range.buffer, range.rank);
        if (is_cached && region != op.cell) return;
        const auto line = static_cast<std::uint64_t>(op.value) * kCacheLineBytes;
        const std::uint64_t begin = is_cached ? std::max(range.offset, line) : range.offset;
        const std::uint64_t end =
            is_cached ? std::min(plan::end_of(range), line + kCacheLineBytes) : plan::end_of(range);
        if (begin < end) each(view_of(model, region, kind, agent.core).region, begin, end, use);
    };
    const Action& action = model.instruction(event).action;
    plan::for_each_access(
        action,
        [&](const Range& range) {
            if (is_early) touch(range, kWrite);
        },
        [&](const Range& range) {
            if (!is_early) touch(range, kWrite);
        },
        [&](const Range& range) {
            const bool is_atomic = !is_early && !is_cached;
            touch(range, is_atomic ? use_of_sum(std::get<Accumulate>(action).element) : kWrite);
        });
}

// Everybody but the core itself may find what is not yet visible, or change what was taken already.
template <class Each>
void touch_seen(const Model& model, AgentId id, RegionId region, std::uint64_t begin,
                std::uint64_t end, const Use& use, Each&& each) {
    if (region >= model.views.size()) return;
    const Agent& agent = model.agents[id];
    for (const View& view : model.views[region]) {
        const bool is_core = view.kind == RegionKind::unfenced
                                 ? !agent.is_apart && agent.core == view.core
                                 : id == view.core;
        if (is_core || (view.kind == RegionKind::cached_reads && !changes(use))) continue;
        const std::uint64_t from = std::max(begin, view.begin);
        const std::uint64_t to = std::min(end, view.end);
        const bool adds = use.kind == Use::Kind::add && view.kind != RegionKind::cached_reads;
        if (from < to) each(view.region, from, to, adds ? use : kRead);
    }
}

}  // namespace detail

// Calls touched(region, begin, end, use) for what the op touches, reads before changes.
template <class Touched>
void for_each_touch(const Model& model, Event event, Touched&& touched) {
    const auto each = [&](RegionId region, std::uint64_t begin, std::uint64_t end, const Use& use) {
        touched(region, begin, end, use);
        detail::touch_seen(model, event.agent, region, begin, end, use, touched);
    };
    const Op& op = model.op(event);
    const std::int32_t rank = model.agents[event.agent].rank;
    switch (op.origin) {
        case Origin::stages: detail::touch_on_entry(model, op, rank, each); break;
        case Origin::consumes: detail::touch_on_return(model, op, rank, each); break;
        case Origin::line: detail::touch_line(model, event, touched); break;
        case Origin::visible:
        case Origin::early: detail::touch_views(model, event, touched); break;
        case Origin::issue: break;
        case Origin::instruction: {
            const auto touch = [&](const Range& range, const Use& use) {
                if (range.length == 0) return;
                each(model.region(event, range), range.offset, plan::end_of(range), use);
            };
            const Action& action = model.instruction(event).action;
            plan::for_each_access(
                action, [&](const Range& range) { touch(range, kRead); },
                [&](const Range& range) { touch(range, kWrite); },
                [&](const Range& range) {
                    touch(range, use_of_sum(std::get<Accumulate>(action).element));
                });
            break;
        }
    }
}

}  // namespace peal::checker
