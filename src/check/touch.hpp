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
    for (const Staged* staged : model.meaning(op.call, rank).staged) {
        if (staged->length == 0) continue;
        each(model.region(op.call, staged->buffer, rank), staged->offset,
             staged->offset + staged->length, kWrite);
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

}  // namespace detail

// Calls each(region, begin, end, use) for what the op touches, reads before changes.
template <class Each>
void for_each_touch(const Model& model, Event event, Each&& each) {
    const Op& op = model.op(event);
    const std::int32_t rank = model.agents[event.agent].rank;
    switch (op.origin) {
        case Origin::stages: detail::touch_on_entry(model, op, rank, each); break;
        case Origin::consumes: detail::touch_on_return(model, op, rank, each); break;
        case Origin::line: detail::touch_line(model, event, each); break;
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
