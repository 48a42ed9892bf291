// SPDX-License-Identifier: Apache-2.0
// All ranks add to the windows of some: clear, meet, add, meet, take, meet; then some of that is
// left out, moved or done in another way.
#include "check/crosscheck/dice.hpp"

namespace peal::test {
namespace {

class GatherWriter {
public:
    explicit GatherWriter(std::uint64_t seed) : dice_(seed), plans_(dice_.chance(80) ? 2 : 3) {}

    RandomProgram write() {
        const int nranks = plans_.nranks();
        element_ = dice_.one_of<Element>(
            {Element::u8, Element::u8, Element::i16, Element::i32, Element::f32, Element::f16});
        size_ = bytes_of(element_);
        input_ = plans_.argument("input", Direction::in, size_, Element::u8);
        output_ = plans_.argument("output", Direction::out, size_, Element::u8);
        data_ = plans_.window("data", 2 * size_, Element::u8);
        plans_.tile_bytes(2 * size_);
        RandomProgram program;
        program.calls = nranks == 2 ? dice_.pick(1, 2) : 1;
        const int targets = nranks == 2 && dice_.chance(40) ? 2 : 1;
        const bool clears = dice_.chance(65);
        const Meeting meeting(dice_, plans_, "signal", clears ? 3 : 2);
        if (dice_.chance(20)) place_ = size_;
        for (int me = 0; me < nranks; ++me) {
            int phase = 0;
            RankPlan rank = plans_.on(me);
            const Range sum = rank.in(data_, place_, size_);
            if (clears) {
                if (me < targets) rank.fill(sum, 0, dice_.chance(80) ? element_ : Element::u8);
                meeting.meet(plans_, me, phase++);
            }
            for (int to = 0; to < targets; ++to) add(rank, to);
            meeting.meet(plans_, me, phase++);
            if (me < targets) take(rank, sum, clears);
            meeting.meet(plans_, me, phase++);
        }
        RandomStage stage = stage_of(plans_);
        if (dice_.chance(40)) spoil(dice_, stage.plans);
        give_meaning(stage, targets);
        program.stages.push_back(std::move(stage));
        return program;
    }

private:
    void add(RankPlan& rank, int to) {
        const Range there = RankPlan::at(to, data_, place_, size_);
        Range mine = rank.in(input_, 0, size_);
        if (dice_.chance(25)) {
            rank.copy(rank.tile(0, size_), mine);
            mine = rank.tile(0, size_);
        }
        const int way = dice_.pick(1, 100);
        if (way <= 96) {
            rank.accumulate(there, mine, element_);
        } else if (way <= 98) {
            rank.accumulate(there, mine, element_ == Element::u8 ? Element::i8 : Element::u8);
        } else {
            rank.reduce(there, {there, mine}, ReduceOp::sum, element_);
        }
    }

    // Who does not clear before clears behind himself.
    void take(RankPlan& rank, const Range& sum, bool clears) {
        const Range out = rank.in(output_, 0, size_);
        if (dice_.chance(20)) {
            copy_in_parts(dice_, rank, rank.tile(size_, size_), sum);
            rank.copy(out, rank.tile(size_, size_));
        } else if (dice_.chance(40)) {
            copy_in_parts(dice_, rank, out, sum);
        } else {
            rank.copy(out, sum);
        }
        if (!clears && dice_.chance(90)) rank.fill(sum, 0, element_);
    }

    void give_meaning(RandomStage& stage, int targets) {
        stage.has_meaning = true;
        stage.meaning.name = "gathered";
        std::vector<Contribution> of;
        for (const Plan& plan : stage.plans) of.push_back({plan.rank, input_, 0});
        const Contributions all = contributions(of);
        for (int rank = 0; rank < targets; ++rank) {
            stage.meaning.outputs.push_back(
                {rank, output_, 0, size_, all, ReduceOp::sum, element_, true});
        }
        stage.meaning.same_bits = true;
        stage.meaning.in_order = dice_.chance(5);
    }

    Dice dice_;
    Plans plans_;
    Element element_ = Element::u8;
    std::uint64_t size_ = 1, place_ = 0;
    std::uint16_t input_ = 0, output_ = 0, data_ = 0;
};

}  // namespace

RandomProgram random_gathers(std::uint64_t seed) { return GatherWriter(seed).write(); }

}  // namespace peal::test
