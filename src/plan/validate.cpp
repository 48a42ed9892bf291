// SPDX-License-Identifier: Apache-2.0
#include "plan/validate.hpp"

#include <cstdint>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peal/error.hpp"
#include "plan/faults.hpp"

namespace peal {
namespace {

struct SignalLine {
    std::int32_t rank;
    std::uint16_t buffer;
    std::uint64_t line;
    auto operator<=>(const SignalLine&) const = default;
};

void throw_first(const std::vector<PlanFault>& faults) {
    if (!faults.empty()) throw Error(Fault::program, to_text(faults.front()));
}

}  // namespace

void validate(const Plan& plan) { throw_first(faults_of(plan)); }

void validate(const std::vector<Plan>& plans) { throw_first(faults_of(plans)); }

std::vector<std::string> shared_line_sets(const std::vector<Plan>& plans) {
    std::map<SignalLine, std::set<std::int32_t>> writers;
    for (const Plan& plan : plans) {
        for (const Instruction& instruction : plan.instructions) {
            const auto* notify = std::get_if<Notify>(&instruction.action);
            if (!notify || notify->op != NotifyOp::set) continue;
            const Cell& cell = notify->cell;
            const std::uint64_t stride = plan.buffers[cell.buffer].cell_stride;
            if (stride >= kCacheLineBytes) continue;
            const std::uint64_t line = cell.index * stride / kCacheLineBytes;
            writers[{cell.rank, cell.buffer, line}].insert(plan.rank);
        }
    }
    std::vector<std::string> sentences;
    for (const auto& [line, ranks] : writers) {
        if (ranks.size() < 2) continue;
        sentences.push_back(fmt::format("ranks {} set cells in line {} of {} of rank {}",
                                        fmt::join(ranks, ", "), line.line,
                                        plans.front().buffers[line.buffer].name, line.rank));
    }
    return sentences;
}

}  // namespace peal
