// SPDX-License-Identifier: Apache-2.0
#include "plan/pipe_order.hpp"

#include <array>
#include <cassert>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "plan/pipes.hpp"
#include "plan/titles.hpp"

namespace peal::plan {
namespace {

// Carries out a lane on its pipes, in thought.
class PipeRun {
public:
    PipeRun(const Plan& plan, std::size_t lane)
        : plan_(plan),
          begin_(static_cast<std::uint32_t>(plan.lane_begin(lane))),
          end_(static_cast<std::uint32_t>(plan.lane_end(lane))) {
        for (std::uint32_t i = begin_; i < end_; ++i) {
            queue_of(plan.instructions[i]).todo.push_back(i);
        }
    }

    std::vector<std::uint32_t> run() && {
        std::vector<std::uint32_t> order;
        while (order.size() < end_ - begin_) {
            Queue* const queue = next_queue();
            if (!queue) fail();
            order.push_back(queue->next());
            take(plan_.instructions[queue->next()].action);
            ++queue->done;
        }
        return order;
    }

private:
    static constexpr std::uint32_t kNever = UINT32_MAX;

    // What one unit has to do.
    struct Queue {
        std::vector<std::uint32_t> todo;
        std::size_t done = 0;
        std::uint32_t next() const { return done < todo.size() ? todo[done] : kNever; }
    };
    using Flag = std::tuple<Pipe, Pipe, std::uint8_t>;
    struct FlagUse {
        std::uint64_t sets = 0, waits = 0;  // that were carried out
    };

    Queue& queue_of(const Instruction& instruction) {
        const Pipe pipe = pipe_of(instruction);
        return queues_[static_cast<std::size_t>(is_beside(pipe) ? pipe : Pipe::scalar)];
    }
    const Queue& scalar() const { return queues_[static_cast<std::size_t>(Pipe::scalar)]; }

    Queue* next_queue() {
        Queue* first = nullptr;
        for (Queue& queue : queues_) {
            if (queue.next() == kNever || !can_start(queue.next())) continue;
            if (!first || queue.next() < first->next()) first = &queue;
        }
        return first;
    }

    bool can_start(std::uint32_t index) const {
        const Instruction& instruction = plan_.instructions[index];
        if (const auto* wait = std::get_if<WaitFlag>(&instruction.action)) {
            const auto use = flags_.find({wait->from, wait->to, wait->event});
            if (use == flags_.end() || use->second.sets <= use->second.waits) return false;
        }
        const Pipe pipe = pipe_of(instruction);
        if (is_beside(pipe)) return scalar().next() > index;
        return pipe != Pipe::all || std::all_of(queues_.begin(), queues_.end(),
                                                [&](const Queue& q) { return q.next() >= index; });
    }

    void take(const Action& action) {
        if (const auto* set = std::get_if<SetFlag>(&action)) {
            ++flags_[{set->from, set->to, set->event}].sets;
        } else if (const auto* wait = std::get_if<WaitFlag>(&action)) {
            ++flags_[{wait->from, wait->to, wait->event}].waits;
        }
    }

    // The first instruction that is not done follows nothing else: it waits for a flag.
    [[noreturn]] void fail() const {
        std::uint32_t first = kNever;
        for (const Queue& queue : queues_) first = std::min(first, queue.next());
        const auto* wait = std::get_if<WaitFlag>(&plan_.instructions[first].action);
        assert(wait);
        std::string why = "nobody sets its flag";
        for (std::uint32_t i = first; i < end_; ++i) {
            const auto* set = std::get_if<SetFlag>(&plan_.instructions[i].action);
            if (!set || set->from != wait->from || set->to != wait->to ||
                set->event != wait->event) {
                continue;
            }
            why = fmt::format("its flag is set by {}, which comes after it",
                              instruction_title(plan_, i));
            break;
        }
        throw Error(Fault::program, fmt::format("{}, {}: it waits for ever: {}", plan_title(plan_),
                                                instruction_title(plan_, first), why));
    }

    const Plan& plan_;
    std::uint32_t begin_, end_;  // of the lane
    std::array<Queue, static_cast<std::size_t>(Pipe::all) + 1> queues_;
    std::map<Flag, FlagUse> flags_;
};

}  // namespace

std::vector<std::uint32_t> pipe_order(const Plan& plan, std::size_t lane) {
    return PipeRun(plan, lane).run();
}

}  // namespace peal::plan
