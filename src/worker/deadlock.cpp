// SPDX-License-Identifier: Apache-2.0
#include "worker/deadlock.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "engine/standing.hpp"

namespace peal::worker {
namespace {

// A member of a task in the words of the engines.
class MemberStanding {
public:
    MemberStanding(const Dispatcher& dispatcher, const TaskNode& task, std::size_t m,
                   std::size_t lane, std::size_t position, std::string progress) {
        const TaskMember& member = task.members[m];
        for (const BoundRange& range : member.memory) {
            memory_.push_back({.base = dispatcher.arena().at(range.offset),
                               .rank_stride = range.rank_stride,
                               .generation = range.generation});
        }
        const Plan& plan = task.plan_of(member);
        const std::string of_lane = plan.lanes.empty() ? "" : fmt::format(", lane {}", lane);
        standing_ = {&plan,
                     memory_,
                     position,
                     lane,
                     fmt::format("{} on rank {}{}", task.title(), member.device, of_lane),
                     std::move(progress)};
    }
    MemberStanding(MemberStanding&&) = default;  // a moved vector keeps its memory

    const engine::Standing& get() const { return standing_; }

private:
    std::vector<engine::BoundBuffer> memory_;
    engine::Standing standing_;
};

std::uint64_t waits_of(const Dispatcher& dispatcher, int device) {
    return dispatcher.record(device).standing.waits.load(std::memory_order_acquire);
}

std::size_t instruction_of(const Dispatcher& dispatcher, int device) {
    return static_cast<std::size_t>(
        dispatcher.record(device).standing.instruction.load(std::memory_order_acquire));
}

const Plan& plan_at_hand(const Dispatcher& dispatcher, int device) {
    const Dispatcher::InFlight& first = dispatcher.in_flight(device).front();
    return first.task->plan_of(first.task->members[first.member]);
}

// Of what the device has at hand.
MemberStanding running(const Dispatcher& dispatcher, int device, std::size_t lane,
                       std::size_t position) {
    const Dispatcher::InFlight& first = dispatcher.in_flight(device).front();
    return {dispatcher, *first.task, first.member, lane, position, ""};
}

// Where the lanes of a device stand that is in a long wait.
std::vector<std::size_t> lanes_of(const Dispatcher& dispatcher, int device) {
    std::vector<std::size_t> positions;
    const auto& noted = dispatcher.record(device).standing.lanes;
    const Plan& plan = plan_at_hand(dispatcher, device);
    for (std::size_t lane = 0; lane < plan.lane_count(); ++lane) {
        // The device may be in another plan already; who finds out that it has moved does not mind.
        const std::size_t position = noted[lane].load(std::memory_order_relaxed);
        positions.push_back(std::clamp(position, plan.lane_begin(lane), plan.lane_end(lane)));
    }
    return positions;
}

bool can_go_on(const Dispatcher& dispatcher, const Stuck& stuck) {
    const Dispatcher::InFlight& first = dispatcher.in_flight(stuck.device).front();
    if (dispatcher.is_cancelled(first.task->members[first.member])) return true;  // it will notice
    for (std::size_t lane = 0; lane < stuck.instructions.size(); ++lane) {
        const MemberStanding member =
            running(dispatcher, stuck.device, lane, stuck.instructions[lane]);
        if (!member.get().is_done() && !engine::is_stuck(member.get())) return true;
    }
    return false;
}

// All who may still ring.
std::vector<MemberStanding> all_members(const Dispatcher& dispatcher,
                                        const std::vector<Stuck>& stuck,
                                        const std::vector<TaskPtr>& unstarted) {
    std::vector<MemberStanding> all;
    const auto add = [&](const TaskNode& task, std::size_t m, const char* progress) {
        const Plan& plan = task.plan_of(task.members[m]);
        for (std::size_t lane = 0; lane < plan.lane_count(); ++lane) {
            all.emplace_back(dispatcher, task, m, lane, plan.lane_begin(lane), progress);
        }
    };
    for (const Stuck& each : stuck) {
        for (std::size_t lane = 0; lane < each.instructions.size(); ++lane) {
            all.push_back(running(dispatcher, each.device, lane, each.instructions[lane]));
        }
        bool is_running = true;
        for (const auto& [task, m] : dispatcher.in_flight(each.device)) {
            if (!std::exchange(is_running, false)) add(*task, m, "not begun");
        }
    }
    for (const TaskPtr& task : unstarted) {
        for (std::size_t m = 0; m < task->members.size(); ++m) add(*task, m, "not started");
    }
    return all;
}

}  // namespace

std::vector<Stuck> find_deadlock(const Dispatcher& dispatcher) {
    std::vector<Stuck> all;
    for (int device = 0; device < dispatcher.devices(); ++device) {
        if (dispatcher.in_flight(device).empty()) continue;
        const std::uint64_t waits = waits_of(dispatcher, device);
        if (waits % 2 == 0) return {};
        all.push_back({device, waits, {}});
    }
    if (dispatcher.has_news()) return {};  // so these may be places in other commands
    for (Stuck& stuck : all) {
        stuck.instructions = lanes_of(dispatcher, stuck.device);
        if (can_go_on(dispatcher, stuck)) return {};
    }
    for (const Stuck& stuck : all) {
        if (waits_of(dispatcher, stuck.device) != stuck.waits) return {};
    }
    return all;
}

std::string deadlock_report(const Dispatcher& dispatcher, const std::vector<Stuck>& stuck,
                            const std::vector<TaskPtr>& unstarted) {
    const std::vector<MemberStanding> members = all_members(dispatcher, stuck, unstarted);
    std::vector<engine::Standing> all;
    for (const MemberStanding& member : members) all.push_back(member.get());
    engine::StandingReport report("deadlock: no device can go on",
                                  static_cast<std::size_t>(dispatcher.devices()));
    for (int device = 0; device < dispatcher.devices(); ++device) {
        const auto found = std::find_if(stuck.begin(), stuck.end(),
                                        [&](const Stuck& each) { return each.device == device; });
        if (found == stuck.end()) {
            report.add(device, "idle");
            continue;
        }
        for (std::size_t lane = 0; lane < found->instructions.size(); ++lane) {
            const MemberStanding member =
                running(dispatcher, device, lane, found->instructions[lane]);
            if (member.get().is_done()) continue;
            report.add(device, dispatcher.in_flight(device).front().task->title(), member.get(),
                       all);
        }
    }
    return std::move(report).text();
}

std::string where_it_stands(const Dispatcher& dispatcher, int device) {
    if (dispatcher.in_flight(device).empty()) return "";
    const TaskNode& task = *dispatcher.in_flight(device).front().task;
    if (!task.kernel) return "";
    const std::size_t position = instruction_of(dispatcher, device);
    const Plan& plan = plan_at_hand(dispatcher, device);
    const std::size_t lane = position < plan.instructions.size() ? plan.lane_of(position) : 0;
    const MemberStanding member = running(dispatcher, device, lane, position);
    if (member.get().is_done()) return fmt::format("{}, at its end", task.title());
    return fmt::format("{}, {}", task.title(), engine::instruction_note(member.get()));
}

}  // namespace peal::worker
