// SPDX-License-Identifier: Apache-2.0
#include "worker/deadlock.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "engine/standing.hpp"

namespace peal::worker {
namespace {

// A member of a task in the words of the engines.
class MemberStanding {
public:
    MemberStanding(const Dispatcher& dispatcher, const TaskNode& task, std::size_t m,
                   std::size_t position, std::string progress) {
        const TaskMember& member = task.members[m];
        for (const BoundRange& range : member.memory) {
            memory_.push_back({.base = dispatcher.arena().at(range.offset),
                               .rank_stride = range.rank_stride,
                               .generation = range.generation});
        }
        standing_ = {&task.plan_of(member), memory_, position,
                     fmt::format("{} on rank {}", task.title(), member.device),
                     std::move(progress)};
    }
    MemberStanding(MemberStanding&&) = default;  // a moved vector keeps its memory

    const Standing& get() const { return standing_; }

private:
    std::vector<BoundBuffer> memory_;
    Standing standing_;
};

std::uint64_t waits_of(const Dispatcher& dispatcher, int device) {
    return dispatcher.record(device).standing.waits.load(std::memory_order_acquire);
}

std::size_t instruction_of(const Dispatcher& dispatcher, int device) {
    return static_cast<std::size_t>(
        dispatcher.record(device).standing.instruction.load(std::memory_order_acquire));
}

// Of what the device has at hand.
MemberStanding running(const Dispatcher& dispatcher, int device, std::size_t position) {
    const Dispatcher::InFlight& first = dispatcher.in_flight(device).front();
    return {dispatcher, *first.task, first.member, position, ""};
}

bool can_go_on(const Dispatcher& dispatcher, const Stuck& stuck) {
    const Dispatcher::InFlight& first = dispatcher.in_flight(stuck.device).front();
    if (dispatcher.is_cancelled(first.task->members[first.member])) return true;  // it will notice
    return !is_stuck(running(dispatcher, stuck.device, stuck.instruction).get());
}

// All who may still ring.
std::vector<MemberStanding> all_members(const Dispatcher& dispatcher,
                                        const std::vector<TaskPtr>& unstarted) {
    std::vector<MemberStanding> all;
    for (int device = 0; device < dispatcher.devices(); ++device) {
        bool is_running = true;
        for (const auto& [task, m] : dispatcher.in_flight(device)) {
            all.emplace_back(dispatcher, *task, m,
                             is_running ? instruction_of(dispatcher, device) : 0,
                             is_running ? "" : "not begun");
            is_running = false;
        }
    }
    for (const TaskPtr& task : unstarted) {
        for (std::size_t m = 0; m < task->members.size(); ++m) {
            all.emplace_back(dispatcher, *task, m, 0, "not started");
        }
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
        all.push_back({device, waits, instruction_of(dispatcher, device)});
    }
    if (dispatcher.has_news()) return {};  // so these may be places in other commands
    for (const Stuck& stuck : all) {
        if (can_go_on(dispatcher, stuck)) return {};
    }
    for (const Stuck& stuck : all) {
        if (waits_of(dispatcher, stuck.device) != stuck.waits) return {};
    }
    return all;
}

std::string deadlock_report(const Dispatcher& dispatcher, const std::vector<Stuck>& stuck,
                            const std::vector<TaskPtr>& unstarted) {
    const std::vector<MemberStanding> members = all_members(dispatcher, unstarted);
    std::vector<Standing> all;
    for (const MemberStanding& member : members) all.push_back(member.get());
    StandingReport report("deadlock: no device can go on",
                          static_cast<std::size_t>(dispatcher.devices()));
    for (int device = 0; device < dispatcher.devices(); ++device) {
        const auto found = std::find_if(stuck.begin(), stuck.end(),
                                        [&](const Stuck& each) { return each.device == device; });
        if (found == stuck.end()) {
            report.add(device, "idle");
            continue;
        }
        report.add(device, dispatcher.in_flight(device).front().task->title(),
                   running(dispatcher, device, found->instruction).get(), all);
    }
    return std::move(report).text();
}

std::string where_it_stands(const Dispatcher& dispatcher, int device) {
    if (dispatcher.in_flight(device).empty()) return "";
    const TaskNode& task = *dispatcher.in_flight(device).front().task;
    if (!task.kernel) return "";
    const MemberStanding member = running(dispatcher, device, instruction_of(dispatcher, device));
    if (member.get().is_done()) return fmt::format("{}, at its end", task.title());
    return fmt::format("{}, {}", task.title(), instruction_note(member.get()));
}

}  // namespace peal::worker
