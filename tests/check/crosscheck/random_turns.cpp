// SPDX-License-Identifier: Apache-2.0
// Programs that are called again and again, and use other parts of their window from call to call:
// halves or thirds in turn, some of them another's, some places that do not move.
#include <map>

#include "check/crosscheck/dice.hpp"

namespace peal::test {
namespace {

class TurnWriter {
public:
    explicit TurnWriter(std::uint64_t seed)
        : dice_(seed * 2 + 1), program_(random_rounds(seed)), stage_(program_.stages.front()) {}

    RandomProgram write() {
        const std::vector<Buffer>& buffers = stage_.plans.front().buffers;
        for (std::uint16_t b = 0; b < buffers.size(); ++b) {
            if (buffers[b].kind == BufferKind::window) window_ = b;
            if (buffers[b].kind == BufferKind::signal && (signal_ == 0 || dice_.chance(30))) {
                signal_ = b;
            }
        }
        slots_ = buffers[window_].bytes;
        add_turns();
        for (Plan& plan : stage_.plans) {
            plan.turns = turns_;
            plan.buffers[window_].bytes = slots_ * turns_.count;
            for (Instruction& instruction : plan.instructions) move(instruction.action);
        }
        return std::move(program_);
    }

private:
    // The first shift goes from part to part, the second is the same some calls later.
    void add_turns() {
        turns_.signal = signal_;
        turns_.every = dice_.chance(75) ? 1 : 2;
        turns_.count = dice_.chance(75) ? 2 : 3;
        Shift shift{window_, {}};
        for (std::uint32_t turn = 0; turn < turns_.count; ++turn) {
            shift.by.push_back(slots_ * turn);
        }
        turns_.shifts.push_back(shift);
        for (std::uint64_t& by : shift.by) by = (by + slots_) % (slots_ * turns_.count);
        turns_.shifts.push_back(shift);
    }

    // A place moves alike for all who use it, unless something is wrong.
    void move(Range& range) {
        if (range.buffer != window_) return;
        const auto usual = static_cast<std::uint16_t>(dice_.chance(80)   ? 1
                                                      : dice_.chance(50) ? 2
                                                                         : 0);
        const std::uint16_t shift = shift_of_.try_emplace(range.offset, usual).first->second;
        range.shift = dice_.chance(5) ? static_cast<std::uint16_t>(dice_.pick(0, 2)) : shift;
    }
    void move(Action& action) {
        if (auto* copy = std::get_if<Copy>(&action)) {
            move(copy->dst);
            move(copy->src);
        } else if (auto* sum = std::get_if<Accumulate>(&action)) {
            move(sum->dst);
            move(sum->src);
        } else if (auto* map = std::get_if<Map>(&action)) {
            move(map->dst);
        }
    }

    Dice dice_;
    RandomProgram program_;
    RandomStage& stage_;
    std::uint16_t window_ = 0, signal_ = 0;
    std::uint64_t slots_ = 0;
    Turns turns_;
    std::map<std::uint64_t, std::uint16_t> shift_of_;  // by offset
};

}  // namespace

RandomProgram random_turns(std::uint64_t seed) { return TurnWriter(seed).write(); }

}  // namespace peal::test
