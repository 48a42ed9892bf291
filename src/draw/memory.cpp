// SPDX-License-Identifier: Apache-2.0
#include "draw/memory.hpp"

#include <variant>

#include <fmt/format.h>

#include "check/steps.hpp"
#include "plan/access.hpp"

namespace peal::draw {
namespace {

std::vector<Access> caller_accesses(const Step& step, const CheckStage& stage, const Plan& plan) {
    std::vector<Access> list;
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        if (plan.buffers[b].kind == BufferKind::signal) continue;
        list.push_back({step.rank, memory_of(stage, b), true});
    }
    return list;
}

}  // namespace

const Instruction* instruction_of(const Step& step, const std::vector<CheckStage>& stages) {
    if (step.index < 0) return nullptr;
    return &checker::plan_of(step, stages).instructions[static_cast<std::size_t>(step.index)];
}

// Buffers that do not exist have a name too: plans that use them are drawn as well.
std::string memory_of(const CheckStage& stage, std::size_t buffer) {
    const std::vector<Buffer>& buffers = stage.plans->front().buffers;
    if (buffer >= buffers.size()) return fmt::format("buffer#{}", buffer);
    return stage.memory.empty() ? buffers[buffer].name : stage.memory[buffer];
}

std::string memory_of(const CheckStage& stage, const Cell& cell) {
    const std::vector<Buffer>& buffers = stage.plans->front().buffers;
    const std::uint64_t stride =
        cell.buffer < buffers.size() ? buffers[cell.buffer].cell_stride : kCacheLineBytes;
    return fmt::format("{}+{}", memory_of(stage, cell.buffer), cell.index * stride);
}

std::vector<Access> accesses_of(const Step& step, const std::vector<CheckStage>& stages) {
    const CheckStage& stage = stages[static_cast<std::size_t>(step.stage)];
    const Instruction* instruction = instruction_of(step, stages);
    if (instruction == nullptr) return caller_accesses(step, stage, checker::plan_of(step, stages));
    std::vector<Access> list;
    const auto add = [&](const Range& range, bool writes) {
        if (!plan::is_tile(range))
            list.push_back({range.rank, memory_of(stage, range.buffer), writes});
    };
    plan::for_each_access(
        instruction->action, [&](const Range& range) { add(range, false); },
        [&](const Range& range) { add(range, true); });
    if (const auto* notify = std::get_if<Notify>(&instruction->action)) {
        list.push_back({notify->cell.rank, memory_of(stage, notify->cell), true});
    } else if (const auto* wait = std::get_if<Wait>(&instruction->action)) {
        list.push_back({wait->cell.rank, memory_of(stage, wait->cell), false});
    }
    return list;
}

}  // namespace peal::draw
