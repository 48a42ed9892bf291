// SPDX-License-Identifier: Apache-2.0
#include "worker/position.hpp"

#include <fmt/format.h>

#include "engine/place.hpp"

namespace peal::worker {

std::int64_t value_in(const TaskMember& member, const Cell& cell, const Value& value) {
    return value.constant + value.per_generation * member.memory[cell.buffer].generation;
}

std::byte* address_of(const Dispatcher& dispatcher, const TaskNode& task, const TaskMember& member,
                      const Cell& cell) {
    const BoundRange& memory = member.memory[cell.buffer];
    const std::uint64_t stride = task.plan_of(member).buffers[cell.buffer].cell_stride;
    return dispatcher.arena().at(memory.offset +
                                 static_cast<std::uint64_t>(cell.rank) * memory.rank_stride +
                                 cell.index * stride);
}

std::string instruction_text(const TaskNode& task, const TaskMember& member,
                             std::size_t instruction) {
    const Plan& plan = task.plan_of(member);
    Instruction shown = plan.instructions[instruction];
    if (auto* wait = std::get_if<Wait>(&shown.action)) {
        wait->value = {value_in(member, wait->cell, wait->value), 0};
    } else if (auto* notify = std::get_if<Notify>(&shown.action)) {
        notify->value = {value_in(member, notify->cell, notify->value), 0};
    }
    return to_text(shown, plan) + source_note(plan, shown);
}

std::string where_it_stands(const Dispatcher& dispatcher, int device) {
    if (dispatcher.in_flight(device).empty()) return "";
    const Dispatcher::InFlight& running = dispatcher.in_flight(device).front();
    const TaskNode& task = *running.task;
    if (!task.kernel) return "";
    const TaskMember& member = task.members[running.member];
    const auto at = static_cast<std::size_t>(
        dispatcher.record(device).standing.instruction.load(std::memory_order_acquire));
    if (at >= task.plan_of(member).instructions.size()) {
        return fmt::format("{}, at its end", task.title());
    }
    return fmt::format("{}, instruction {}: {}", task.title(), at,
                       instruction_text(task, member, at));
}

}  // namespace peal::worker
