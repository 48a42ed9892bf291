// SPDX-License-Identifier: Apache-2.0
#include "check/finding.hpp"

#include <fmt/format.h>

#include "plan/access.hpp"
#include "plan/notes.hpp"
#include "plan/text.hpp"
#include "plan/titles.hpp"

namespace peal::checker {
namespace {

constexpr int kPerSort = 4;
constexpr std::size_t kSorts = 64;

}  // namespace

std::uint64_t sort_of(const Model& model, Event event) {
    const Op& op = model.op(event);
    std::uint64_t place = op.index;
    const bool has_line =
        op.origin != Origin::stages && op.origin != Origin::consumes && op.origin != Origin::issue;
    if (has_line) {
        const std::uint32_t line = model.instruction(event).line;
        if (line != 0) place = std::uint64_t{line} << 32;
    }
    return place << 8 | static_cast<std::uint64_t>(op.origin) << 4 | (model.stage_of(op.call) & 15);
}

std::vector<std::uint64_t> sort_of(const Model& model, ViolationKind kind,
                                   const std::vector<Event>& events) {
    std::vector<std::uint64_t> sort = {static_cast<std::uint64_t>(kind)};
    for (const Event event : events) sort.push_back(sort_of(model, event));
    return sort;
}

bool Findings::wants(ViolationKind kind, const std::vector<Event>& events) {
    const std::vector<std::uint64_t> sort = sort_of(model_, kind, events);
    const auto found = counts_.find(sort);
    if (found == counts_.end()) return counts_.size() < kSorts && counts_.emplace(sort, 1).second;
    return ++found->second <= kPerSort;
}

std::int32_t range_at(const Model& model, Event event, RegionId region, std::uint64_t begin,
                      std::uint64_t end) {
    const Origin origin = model.op(event).origin;
    std::int32_t number = 0, found = -1;
    if (origin != Origin::instruction && origin != Origin::visible && origin != Origin::early) {
        return found;
    }
    plan::for_each_range(model.instruction(event).action, [&](const Range& range) {
        const bool meets = model.region(event, range) == region && range.offset < end &&
                           begin < plan::end_of(range);
        if (meets) found = number;
        ++number;
    });
    return found;
}

std::string text_of(const Model& model, Event event, std::int32_t range) {
    const Op& op = model.op(event);
    const std::int32_t rank = model.agents[event.agent].rank;
    switch (op.origin) {
        case Origin::stages:
            return fmt::format("rank {}'s caller (staging call {})", rank, op.call);
        case Origin::consumes:
            return fmt::format("rank {}'s caller (after call {})", rank, op.call);
        case Origin::issue: return fmt::format("rank {} (issue order)", rank);
        case Origin::instruction:
        case Origin::visible:
        case Origin::early:
        case Origin::line: break;
    }
    const Instruction& instruction = model.instruction(event);
    const Plan& plan = model.plan(op.call, rank);
    const std::string place = plan::place_text(instruction, plan, range);
    return fmt::format("{} (`{}`{}{}, call {})", plan::who_title(plan, op.index),
                       plan::report_text(instruction, plan), place.empty() ? "" : ", ", place,
                       op.call);
}

}  // namespace peal::checker
