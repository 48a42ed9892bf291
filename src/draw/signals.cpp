// SPDX-License-Identifier: Apache-2.0
#include "draw/signals.hpp"

#include "check/steps.hpp"
#include "draw/memory.hpp"

namespace peal::draw {

std::int64_t Signals::generation(const Step& step, std::uint16_t buffer) const {
    const CheckStage& stage = stages_[static_cast<std::size_t>(step.stage)];
    if (buffer >= stage.plans->front().buffers.size()) return 0;  // drawn all the same
    return checker::generation_of(step, stages_, buffer);
}

void Signals::carry_out(const Step& step, const Notify& notify) {
    const std::int64_t value =
        notify.value.constant + notify.value.per_generation * generation(step, notify.cell.buffer);
    std::int64_t& cell = cells_[place(step, notify.cell)];
    cell = notify.op == NotifyOp::set ? value : cell + value;
}

std::int64_t Signals::seen(const Step& step, const Cell& cell) const {
    const auto found = cells_.find(place(step, cell));
    return found == cells_.end() ? 0 : found->second;
}

std::pair<std::int32_t, std::string> Signals::place(const Step& step, const Cell& cell) const {
    return {cell.rank, memory_of(stages_[static_cast<std::size_t>(step.stage)], cell)};
}

}  // namespace peal::draw
