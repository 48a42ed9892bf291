// SPDX-License-Identifier: Apache-2.0
#include "plan/between_hosts.hpp"

#include <cassert>
#include <set>
#include <utility>

#include "plan/access.hpp"
#include "plan/lanes.hpp"
#include "plan/pipes.hpp"
#include "plan/range_index.hpp"

namespace peal::plan {
namespace {

// The least that the plan does not use.
std::uint16_t free_group(const Plan& plan) {
    std::set<std::uint16_t> used;
    for (const Instruction& instruction : plan.instructions) {
        const auto* fence = std::get_if<Fence>(&instruction.action);
        used.insert(fence != nullptr ? fence->group : instruction.group);
    }
    std::uint16_t group = 1;
    while (used.contains(group)) ++group;
    assert(group != kCached);
    return group;
}

// Rewrites the instructions of one lane.
class Deferral {
public:
    Deferral(const Plan& lane, const Far& far, std::uint16_t group)
        : lane_(lane), far_(far), group_(group) {}

    std::vector<Instruction> rewritten() {
        std::vector<Instruction> result;
        result.reserve(lane_.instructions.size());
        for (const Instruction& instruction : lane_.instructions) {
            if (has_pending_ && relies_on_pending(instruction.action)) {
                result.push_back(fence_before(instruction));
                forget_pending();
            }
            result.push_back(instruction);
            if (instruction.group == 0 && writes_far(instruction.action)) defer(result.back());
        }
        return result;
    }

private:
    bool is_far(const Range& range) const {
        return !is_tile(range) && lane_.buffers[range.buffer].kind == BufferKind::window &&
               far_[static_cast<std::size_t>(range.rank)] && range.length != 0;
    }
    bool writes_far(const Action& action) const {
        bool writes = false;
        for_each_access(
            action, [](const Range&) {},
            [&](const Range& range) { writes = writes || is_far(range); });
        return writes;
    }

    void defer(Instruction& instruction) {
        instruction.group = group_;
        has_pending_ = true;
        for_each_access(
            instruction.action, [&](const Range& range) { read_.add(range, 0); },
            [&](const Range& range) { written_.add(range, 0); });
    }
    void forget_pending() {
        has_pending_ = false;
        written_.clear();
        read_.clear();
    }
    bool relies_on_pending(const Action& action) const {
        bool relies = std::holds_alternative<Notify>(action);
        for_each_access(
            action, [&](const Range& range) { relies = relies || written_.overlaps_any(range); },
            [&](const Range& range) {
                relies = relies || written_.overlaps_any(range) || read_.overlaps_any(range);
            });
        return relies;
    }

    // Messages take it for a part of what it is there for.
    Instruction fence_before(const Instruction& instruction) const {
        Instruction fence;
        fence.action = Fence{group_};
        fence.line = instruction.line;
        fence.round = instruction.round;
        return fence;
    }

    const Plan& lane_;
    const Far& far_;
    const std::uint16_t group_;
    // What was deferred since the last fence: what it reads, and what it writes.
    bool has_pending_ = false;
    RangeIndex read_, written_;
};

}  // namespace

Far far_from(int rank, const std::vector<std::int64_t>& hosts) {
    Far far;
    for (const std::int64_t host : hosts) {
        far.push_back(host != hosts[static_cast<std::size_t>(rank)]);
    }
    return far;
}

Plan between_hosts(Plan plan, const Far& far) {
    if (far.empty()) return plan;
    assert(!uses_pipes(plan));
    const std::uint16_t group = free_group(plan);
    change_lanes(plan,
                 [&](Plan& lane) { lane.instructions = Deferral(lane, far, group).rewritten(); });
    return plan;
}

std::vector<Plan> between_hosts(std::vector<Plan> plans, const std::vector<std::int64_t>& hosts) {
    for (Plan& plan : plans) {
        const Far far = far_from(plan.rank, hosts);
        plan = between_hosts(std::move(plan), far);
    }
    return plans;
}

}  // namespace peal::plan
