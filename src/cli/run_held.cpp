// SPDX-License-Identifier: Apache-2.0
// What windows hold when a call begins, in a run: what a host would have put there.
#include <algorithm>

#include "cli/run.hpp"
#include "engine/run_record.hpp"
#include "golden/number.hpp"

namespace peal::cli {
namespace {

void put_held(const Plan& plan, const Held& held, std::optional<std::uint16_t> but,
              const golden::RankMemory& memory) {
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        const Buffer& buffer = plan.buffers[b];
        if (buffer.kind != BufferKind::window || buffer.name != held.window || b == but) continue;
        if (held.what == Held::What::input) fill_with_numbers(plan, b, memory);
        if (held.what == Held::What::zeros) std::fill_n(memory(b), buffer.bytes, std::byte{0});
    }
}

void record(const std::vector<Plan>& plans, const std::vector<Held>& holds) {
    engine::RecordedCall call{&plans, {}, {}};
    for (const Held& held : holds) call.holds.emplace_back(held.window, name(held.what));
    engine::record_sequence({call}, engine::CallOrder::together, engine::Times::again, true);
}

}  // namespace

bool is_argument(const Buffer& buffer, Direction direction) {
    return buffer.kind == BufferKind::argument &&
           (buffer.direction == direction || buffer.direction == Direction::inout);
}

void fill_inputs(const Plan& plan, const golden::RankMemory& memory) {
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        if (is_argument(plan.buffers[b], Direction::in)) fill_with_numbers(plan, b, memory);
    }
}

void fill_with_numbers(const Plan& plan, std::size_t b, const golden::RankMemory& memory) {
    const Buffer& buffer = plan.buffers[b];
    for (std::uint64_t i = 0; i < buffer.elements(); ++i) {
        const auto value = static_cast<std::int64_t>(i % 1000) + std::int64_t{100} * plan.rank;
        golden::store(buffer.element, memory(b) + i * bytes_of(buffer.element),
                      golden::number_of(buffer.element, value));
    }
}

golden::RankWork with_held(golden::RankWork work, const std::vector<Plan>& plans,
                           const std::vector<Held>& holds, std::optional<std::uint16_t> but) {
    if (holds.empty()) return work;
    record(plans, holds);
    work.before = [&plans, holds, but, before = std::move(work.before)](
                      int rank, int call, const golden::RankMemory& memory) {
        before(rank, call, memory);
        for (const Held& held : holds) {
            put_held(plans[static_cast<std::size_t>(rank)], held, but, memory);
        }
    };
    return work;
}

}  // namespace peal::cli
