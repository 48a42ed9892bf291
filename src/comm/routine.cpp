// SPDX-License-Identifier: Apache-2.0
#include "comm/routine.hpp"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "collectives/catalogue.hpp"
#include "engine/run_record.hpp"
#include "peal/error.hpp"
#include "plan/access.hpp"
#include "plan/between_hosts.hpp"
#include "plan/compile_rank.hpp"

namespace peal::comm {
namespace {

Collective collective_of(const Shape& shape, const Rule& rule, std::uint64_t bulk_bytes,
                         const std::vector<std::int64_t>& hosts) {
    Collective collective;
    collective.kind = shape.kind;
    collective.recipe = rule.recipe;
    collective.element = shape.element;
    collective.op = shape.op;
    collective.count = facts_of(shape.kind).is_counted() ? 0 : shape.count;
    collective.root = shape.root;
    collective.counts = shape.counts;
    collective.sent_at = shape.sent_at;
    collective.received_at = shape.received_at;
    collective.placement = carried_placement(rule, shape.placement);
    const std::uint64_t stage = rule.stage_bytes == 0 ? kDefaultStageBytes : rule.stage_bytes;
    collective.stage_bytes = stage > bulk_bytes ? bulk_bytes : rule.stage_bytes;
    if (knows_hosts(shape.kind, rule.recipe)) collective.hosts = hosts;
    return collective;
}

// A call without data still meets whom it would meet: it is a barrier.
bool is_empty(const Shape& shape) {
    if (!facts_of(shape.kind).is_counted()) return shape.count == 0;
    return std::all_of(shape.counts.begin(), shape.counts.end(), [](auto n) { return n == 0; });
}

Collective barrier_of(const Table& table, int nranks, const std::vector<std::int64_t>& hosts) {
    Shape shape;
    shape.kind = CollectiveKind::barrier;
    const auto rules = table.choices(shape.kind, false, 0, nranks, collectives::spread_of(hosts));
    return collective_of(shape, *rules.front(), 0, hosts);
}

bool is_closed(const Collective& collective) {
    return reuse_of(collective.kind, collective.recipe) == Reuse::at_once;
}

// Elements of the largest that one rank gives or gets.
std::uint64_t largest_block(const Shape& shape) {
    if (shape.counts.empty()) return shape.count;
    return static_cast<std::uint64_t>(*std::max_element(shape.counts.begin(), shape.counts.end()));
}

// Whether each sender has a box of its own in the window, and it fits in a line with the signal.
bool fits_in_lines(const Routine& routine, std::uint64_t window_bytes, int nranks) {
    const collectives::Entry& recipe =
        collectives::entry(routine.shape.kind, routine.collective.recipe);
    return recipe.use == collectives::TargetUse::stages_in_boxes &&
           largest_block(routine.shape) * bytes_of(routine.shape.element) <= kLinePayload &&
           window_bytes <= static_cast<std::uint64_t>(nranks) * kCacheLineBytes;
}

std::uint64_t window_bytes(const Plan& plan) {
    std::uint64_t bytes = 0;
    for (const Buffer& buffer : plan.buffers) {
        if (buffer.kind == BufferKind::window) bytes += buffer.bytes;
    }
    return bytes;
}

// Whether this rank, or in boxes another, writes into the own part of the data window.
bool fills_own_part(const Routine& routine) {
    const Plan& plan = routine.plan;
    bool fills = collectives::entry(routine.shape.kind, routine.collective.recipe).use ==
                 collectives::TargetUse::stages_in_boxes;
    const auto written = [&](const Range& range) {
        const bool is_data =
            !plan::is_tile(range) && plan.buffers[range.buffer].kind == BufferKind::window;
        fills = fills || (is_data && range.rank == plan.rank);
    };
    for (const Instruction& instruction : plan.instructions) {
        plan::for_each_access(
            instruction.action, [](const Range&) {}, written);
    }
    return fills;
}

// Where the plan's data window goes; false if it fits nowhere.
bool settle(Routine& routine, bool reaches, bool closed, int nranks, const RoutineLimits& limits) {
    const std::uint64_t bytes = window_bytes(routine.plan);
    if (bytes == 0) {
        routine.staging = Staging::none;
    } else if (reaches) {
        routine.staging = Staging::reach;
        assert(closed && engine::reachable(routine.plan));  // see may_reach()
    } else if (routine.collective.placement == Placement::window) {
        routine.staging = Staging::window;
    } else if (closed) {
        routine.staging = Staging::bulk;
        routine.bulk_bytes = bytes;
        return bytes <= limits.bulk_bytes;
    } else if (fits_in_lines(routine, bytes, nranks)) {
        routine.staging = Staging::line;
    } else if (bytes <= limits.box_bytes) {
        routine.staging = Staging::box;
        routine.block_bytes = bytes / static_cast<std::uint64_t>(nranks);
    } else {
        routine.staging = Staging::ring;
        routine.ring_bytes = whole_lines(bytes);
        routine.fills_ring = fills_own_part(routine);
        return routine.ring_bytes <= limits.ring_bytes;
    }
    return true;
}

SyncPattern sync_in(CollectiveKind kind) {
    const CollectiveFacts facts = facts_of(kind);
    if (facts.hears_all()) return SyncPattern::all_from_all;
    if (facts.ascends) return SyncPattern::all_from_below;
    return facts.getters == Holders::root ? SyncPattern::root_from_all : SyncPattern::all_from_root;
}

Routine::Wiring wiring_of(const Plan& plan) {
    Routine::Wiring wiring;
    wiring.tiles = static_cast<std::int8_t>(plan.buffers.size());
    std::size_t arguments = 0;
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        const auto index = static_cast<std::int8_t>(b);
        switch (plan.buffers[b].kind) {
            case BufferKind::argument: wiring.arguments[arguments++] = index; break;
            case BufferKind::window: wiring.data = index; break;
            case BufferKind::signal: wiring.signal = index; break;
        }
    }
    return wiring;
}

void describe_buffers(Routine& routine, const Collective& collective, int rank, int nranks) {
    const CollectiveFacts facts = facts_of(collective.kind);
    routine.input_count = input_count(collective, rank, nranks);
    routine.output_count = output_count(collective, rank, nranks);
    routine.needs_input = facts.gives(rank, collective.root);
    routine.needs_output = facts.gets(rank, collective.root);
}

// Bytes by which the table chooses.
std::uint64_t message_bytes(const Shape& shape, int nranks) {
    if (!facts_of(shape.kind).counts_pairs()) {
        return largest_block(shape) * bytes_of(shape.element);
    }
    std::int64_t most = 0;
    for (int to = 0; to < nranks; ++to) {
        std::int64_t received = 0;
        for (int from = 0; from < nranks; ++from) {
            received +=
                shape.counts[static_cast<std::size_t>(from) * static_cast<std::size_t>(nranks) +
                             static_cast<std::size_t>(to)];
        }
        most = std::max(most, received);
    }
    return static_cast<std::uint64_t>(most) * bytes_of(shape.element);
}

}  // namespace

std::uint64_t message_bytes(const Routine& routine) {
    const bool is_counted = facts_of(routine.shape.kind).is_counted();
    return (is_counted ? routine.output_count : routine.shape.count) *
           bytes_of(routine.shape.element);
}

std::unique_ptr<Routine> make_routine(const Shape& shape, const Table& table, int rank, int nranks,
                                      const RoutineLimits& limits,
                                      const std::vector<std::int64_t>& hosts) {
    const bool on_window = shape.placement == Placement::window;
    const auto rules = table.choices(shape.kind, on_window, message_bytes(shape, nranks), nranks,
                                     collectives::spread_of(hosts));
    for (const Rule* rule : rules) {
        if (rule->reach && !limits.reach) continue;
        const Collective wanted = collective_of(shape, *rule, limits.bulk_bytes, hosts);
        validate(wanted, nranks);
        const bool empty = is_empty(shape);
        const Collective carried_out = empty ? barrier_of(table, nranks, hosts) : wanted;
        auto routine = std::make_unique<Routine>();
        routine->shape = shape;
        routine->collective = carried_out;
        routine->sync = sync_in(carried_out.kind);
        describe_buffers(*routine, wanted, rank, nranks);
        const plan::Far far = plan::far_from(rank, hosts);
        routine->plan = plan::between_hosts(plan::compile_rank(carried_out, rank, nranks), far);
        if (!settle(*routine, rule->reach, is_closed(carried_out), nranks, limits)) continue;
        routine->tape.read(routine->plan,
                           routine->staging == Staging::reach ? engine::Tape::Windows::reached
                                                              : engine::Tape::Windows::shared,
                           engine::Tape::Cells::grow, far);
        routine->wiring = wiring_of(routine->plan);
        routine->tile_bytes = engine::tile_room(routine->plan);
        return routine;
    }
    throw Error(Fault::usage,
                fmt::format("{}: there is no recipe for this {}", describe(stamp_of(shape)),
                            on_window ? "on a window" : "size"));
}

const RoutinePtr& Routines::make(const Shape& shape) {
    RoutinePtr routine = make_routine(shape, *table_, rank_, nranks_, limits_, hosts_);
    engine::record_compiled(nranks_, engine::CallOrder::free, routine->collective, hosts_);
    engine::record_run(routine->plan);  // second: a rank that is killed between leaves no run alone
    if (count_ >= kMost) forget();
    if (2 * (count_ + 1) > slots_.size()) grow();
    ++count_;
    return slot_of(shape) = std::move(routine);
}

void Routines::grow() {
    std::vector<RoutinePtr> old(2 * slots_.size());
    old.swap(slots_);
    for (RoutinePtr& routine : old) {
        if (routine != nullptr) slot_of(routine->shape) = std::move(routine);
    }
}

void Routines::forget() {
    count_ = 0;
    slots_.assign(kFirstSlots, nullptr);
}

}  // namespace peal::comm
