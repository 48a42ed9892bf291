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

namespace peal {
namespace {

// Carries out the plan on its pipes, in thought.
class PipeRun {
public:
    explicit PipeRun(const Plan& plan) : plan_(plan) {
        for (std::uint32_t i = 0; i < plan.instructions.size(); ++i) {
            lane_of(plan.instructions[i]).todo.push_back(i);
        }
    }

    std::vector<std::uint32_t> run() && {
        std::vector<std::uint32_t> order;
        while (order.size() < plan_.instructions.size()) {
            Lane* const lane = next_lane();
            if (!lane) fail();
            order.push_back(lane->next());
            take(plan_.instructions[lane->next()].action);
            ++lane->done;
        }
        return order;
    }

private:
    static constexpr std::uint32_t kNever = UINT32_MAX;

    // What one unit has to do.
    struct Lane {
        std::vector<std::uint32_t> todo;
        std::size_t done = 0;
        std::uint32_t next() const { return done < todo.size() ? todo[done] : kNever; }
    };
    using Flag = std::tuple<Pipe, Pipe, std::uint8_t>;
    struct FlagUse {
        std::uint64_t sets = 0, waits = 0;  // that were carried out
    };

    Lane& lane_of(const Instruction& instruction) {
        const Pipe pipe = pipe_of(instruction);
        return lanes_[static_cast<std::size_t>(is_beside(pipe) ? pipe : Pipe::scalar)];
    }
    const Lane& scalar() const { return lanes_[static_cast<std::size_t>(Pipe::scalar)]; }

    Lane* next_lane() {
        Lane* first = nullptr;
        for (Lane& lane : lanes_) {
            if (lane.next() == kNever || !can_start(lane.next())) continue;
            if (!first || lane.next() < first->next()) first = &lane;
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
        return pipe != Pipe::all || std::all_of(lanes_.begin(), lanes_.end(),
                                                [&](const Lane& l) { return l.next() >= index; });
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
        for (const Lane& lane : lanes_) first = std::min(first, lane.next());
        const auto* wait = std::get_if<WaitFlag>(&plan_.instructions[first].action);
        assert(wait);
        std::string why = "nobody sets its flag";
        for (std::uint32_t i = first; i < plan_.instructions.size(); ++i) {
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
    std::array<Lane, static_cast<std::size_t>(Pipe::all) + 1> lanes_;
    std::map<Flag, FlagUse> flags_;
};

}  // namespace

std::vector<std::uint32_t> pipe_order(const Plan& plan) { return PipeRun(plan).run(); }

}  // namespace peal
