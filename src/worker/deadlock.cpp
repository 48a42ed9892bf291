// SPDX-License-Identifier: Apache-2.0
#include "worker/deadlock.hpp"

#include <algorithm>
#include <atomic>
#include <variant>

#include <fmt/format.h>

#include "engine/core.hpp"
#include "worker/position.hpp"

namespace peal::worker {
namespace {

constexpr std::size_t kMostRingersNamed = 3;

// Looks at the places where devices stand.
class Standings {
public:
    explicit Standings(const Dispatcher& dispatcher) : dispatcher_(dispatcher) {}

    std::uint64_t waits_of(int device) const {
        return dispatcher_.record(device).standing.waits.load(std::memory_order_acquire);
    }
    std::size_t instruction_of(int device) const {
        return static_cast<std::size_t>(
            dispatcher_.record(device).standing.instruction.load(std::memory_order_acquire));
    }
    const Dispatcher::InFlight& running(int device) const {
        return dispatcher_.in_flight(device).front();
    }
    const Wait* wait_of(const Stuck& stuck) const {
        const auto& [task, m] = running(stuck.device);
        const Plan& plan = task->plan_of(task->members[m]);
        return std::get_if<Wait>(&plan.instructions[stuck.instruction].action);
    }

    std::int64_t seen(const Stuck& stuck) const {
        const auto& [task, m] = running(stuck.device);
        const TaskMember& member = task->members[m];
        const Cell& cell = wait_of(stuck)->cell;
        std::byte* const at = address_of(dispatcher_, *task, member, cell);
        return task->plan_of(member).buffers[cell.buffer].element == Element::i64
                   ? detail::atomic_at<std::int64_t>(at).load(std::memory_order_acquire)
                   : detail::atomic_at<std::int32_t>(at).load(std::memory_order_acquire);
    }

    bool can_go_on(const Stuck& stuck) const {
        const auto& [task, m] = running(stuck.device);
        const TaskMember& member = task->members[m];
        if (dispatcher_.is_cancelled(member)) return true;  // it will notice
        const Wait* wait = wait_of(stuck);
        if (wait == nullptr) return false;  // a flag that nobody set
        return compares(seen(stuck), wait->compare, value_in(member, wait->cell, wait->value));
    }

private:
    const Dispatcher& dispatcher_;
};

class Report {
public:
    Report(const Dispatcher& dispatcher, const std::vector<Stuck>& stuck,
           const std::vector<TaskPtr>& unstarted)
        : dispatcher_(dispatcher), standings_(dispatcher), stuck_(stuck), unstarted_(unstarted) {}

    std::string text() const {
        std::string text = "deadlock: no device can go on";
        const std::size_t width = std::to_string(dispatcher_.devices() - 1).size();
        for (int device = 0; device < dispatcher_.devices(); ++device) {
            const auto found = std::find_if(stuck_.begin(), stuck_.end(), [&](const Stuck& stuck) {
                return stuck.device == device;
            });
            const std::string indent(2 + 5 + width + 2, ' ');  // as "  rank N  "
            text += fmt::format("\n  rank {:>{}}  {}", device, width,
                                found == stuck_.end() ? "idle" : standing(*found, indent));
        }
        return text;
    }

private:
    std::string standing(const Stuck& stuck, const std::string& indent) const {
        const auto& [task, m] = standings_.running(stuck.device);
        const TaskMember& member = task->members[m];
        return fmt::format("{}  instruction {}  {}\n{}{}", task->title(), stuck.instruction,
                           instruction_text(*task, member, stuck.instruction), indent,
                           reason(stuck));
    }

    std::string reason(const Stuck& stuck) const {
        const Wait* wait = standings_.wait_of(stuck);
        if (wait == nullptr) return "no set_flag came before it";
        const auto& [task, m] = standings_.running(stuck.device);
        const std::byte* cell = address_of(dispatcher_, *task, task->members[m], wait->cell);
        return fmt::format("sees {}; {}", standings_.seen(stuck), blame(cell));
    }

    std::string blame(const std::byte* cell) const {
        std::vector<std::string> ringers;
        for (int device = 0; device < dispatcher_.devices(); ++device) {
            bool is_running = true;
            for (const auto& [task, m] : dispatcher_.in_flight(device)) {
                const std::size_t now = is_running ? standings_.instruction_of(device) : 0;
                const std::string where = is_running ? fmt::format("now at {}", now) : "not begun";
                add_ringer(ringers, *task, task->members[m], cell, now, where);
                is_running = false;
            }
        }
        for (const TaskPtr& task : unstarted_) {
            for (const TaskMember& member : task->members) {
                add_ringer(ringers, *task, member, cell, 0, "not started");
            }
        }
        if (ringers.empty()) return "no task is left that rings it";
        std::string text = "still to ring it: " + ringers[0];
        for (std::size_t i = 1; i < std::min(ringers.size(), kMostRingersNamed); ++i) {
            text += ", " + ringers[i];
        }
        if (ringers.size() > kMostRingersNamed) {
            text += fmt::format(" and {} more", ringers.size() - kMostRingersNamed);
        }
        return text;
    }

    // The member's next notify of that cell, from instruction `first` on.
    void add_ringer(std::vector<std::string>& ringers, const TaskNode& task,
                    const TaskMember& member, const std::byte* cell, std::size_t first,
                    const std::string& where) const {
        const std::vector<Instruction>& instructions = task.plan_of(member).instructions;
        for (std::size_t i = first; i < instructions.size(); ++i) {
            const auto* notify = std::get_if<Notify>(&instructions[i].action);
            if (notify == nullptr) continue;
            if (address_of(dispatcher_, task, member, notify->cell) != cell) continue;
            ringers.push_back(fmt::format("{} on rank {} at instruction {} ({})", task.title(),
                                          member.device, i, where));
            return;
        }
    }

    const Dispatcher& dispatcher_;
    const Standings standings_;
    const std::vector<Stuck>& stuck_;
    const std::vector<TaskPtr>& unstarted_;
};

}  // namespace

std::vector<Stuck> find_deadlock(const Dispatcher& dispatcher) {
    const Standings standings(dispatcher);
    std::vector<Stuck> all;
    for (int device = 0; device < dispatcher.devices(); ++device) {
        if (dispatcher.in_flight(device).empty()) continue;
        const std::uint64_t waits = standings.waits_of(device);
        if (waits % 2 == 0) return {};
        all.push_back({device, waits, standings.instruction_of(device)});
    }
    if (dispatcher.has_news()) return {};  // so these may be places in other commands
    for (const Stuck& stuck : all) {
        if (standings.can_go_on(stuck)) return {};
    }
    for (const Stuck& stuck : all) {
        if (standings.waits_of(stuck.device) != stuck.waits) return {};
    }
    return all;
}

std::string deadlock_report(const Dispatcher& dispatcher, const std::vector<Stuck>& stuck,
                            const std::vector<TaskPtr>& unstarted) {
    return Report(dispatcher, stuck, unstarted).text();
}

}  // namespace peal::worker
