// SPDX-License-Identifier: Apache-2.0
// Windows that hold something when a call begins: input that is combined in place or into an
// output, or zeros on which each rank adds its own; then some of that is spoilt.
#include "check/crosscheck/dice.hpp"

namespace peal::test {
namespace {

class HeldWriter {
public:
    explicit HeldWriter(std::uint64_t seed) : dice_(seed), plans_(dice_.chance(80) ? 2 : 3) {}

    RandomProgram write() {
        const int nranks = plans_.nranks();
        element_ = dice_.one_of<Element>({Element::u8, Element::u8, Element::i16, Element::f32});
        size_ = bytes_of(element_);
        adds_ = dice_.chance(50);
        in_place_ = !adds_ && dice_.chance(50);
        input_ = plans_.argument("input", Direction::in, adds_ ? size_ : 0, Element::u8);
        output_ = plans_.argument("output", Direction::out, in_place_ ? 0 : size_, Element::u8);
        data_ = plans_.window("data", size_ + (dice_.chance(20) ? 1 : 0), Element::u8);
        plans_.tile_bytes(size_);
        choose_contents();
        const Meeting meeting(dice_, plans_, "signal", 3);
        for (int me = 0; me < nranks; ++me) {
            RankPlan rank = plans_.on(me);
            adds_ ? add(rank, me, meeting) : combine(rank, me, meeting);
        }
        RandomProgram program;
        program.calls = nranks == 2 ? dice_.pick(1, 3) : 1;
        RandomStage stage = stage_of(plans_);
        if (dice_.chance(30)) spoil(dice_, stage.plans);
        if (holds_) stage.holds = {{"data", what_}};
        if (dice_.chance(85)) give_meaning(stage);
        program.stages.push_back(std::move(stage));
        return program;
    }

private:
    void choose_contents() {
        using enum Held::What;
        what_ = adds_ ? dice_.one_of<Held::What>({zeros, fresh}) : input;
        if (dice_.chance(10)) what_ = dice_.one_of<Held::What>({input, zeros, fresh});
        holds_ = dice_.chance(90);
        clears_ = dice_.chance(what_ == fresh ? 75 : 15);
        gathers_ = dice_.chance(30);
    }

    std::vector<Range> all_data() const {
        std::vector<Range> list;
        for (int rank = 0; rank < plans_.nranks(); ++rank) {
            list.push_back(RankPlan::at(rank, data_, 0, size_));
        }
        return list;
    }

    // Everybody's input, into the own window or an output.
    void combine(RankPlan& rank, int me, const Meeting& meeting) {
        meeting.meet(plans_, me, 0);
        const Range result = in_place_ ? rank.tile(0, size_) : rank.in(output_, 0, size_);
        rank.reduce(result, all_data(), ReduceOp::sum, element_);
        meeting.meet(plans_, me, 1);
        if (in_place_) rank.copy(rank.in(data_, 0, size_), result);
        if (dice_.chance(20)) meeting.meet(plans_, me, 2);
    }

    // On zeros: the own input to the own window, or to everybody's atomically; then everybody's
    // window, or the own one, is the result.
    void add(RankPlan& rank, int me, const Meeting& meeting) {
        const Range mine = rank.in(data_, 0, size_);
        const Range input = rank.in(input_, 0, size_);
        const Range output = rank.in(output_, 0, size_);
        meeting.meet(plans_, me, 0);
        if (gathers_) {
            for (const Range& there : all_data()) rank.accumulate(there, input, element_);
        } else {
            rank.reduce(mine, {mine, input}, ReduceOp::sum, element_);
        }
        meeting.meet(plans_, me, 1);
        if (gathers_) {
            rank.copy(output, mine);
        } else {
            rank.reduce(output, all_data(), ReduceOp::sum, element_);
        }
        if (gathers_ && clears_) rank.fill(mine, 0, element_);
        meeting.meet(plans_, me, 2);
        if (!gathers_ && clears_) rank.fill(mine, 0, element_);
    }

    void give_meaning(RandomStage& stage) {
        stage.has_meaning = true;
        stage.meaning.name = "held";
        stage.meaning.same_bits = true;
        std::vector<Contribution> of;
        for (const Plan& plan : stage.plans) of.push_back({plan.rank, adds_ ? input_ : data_, 0});
        const Contributions all = contributions(of);
        for (const Plan& plan : stage.plans) {
            stage.meaning.outputs.push_back({plan.rank, in_place_ ? data_ : output_, 0, size_, all,
                                             ReduceOp::sum, element_, true});
        }
    }

    Dice dice_;
    Plans plans_;
    Element element_ = Element::u8;
    std::uint64_t size_ = 1;
    bool adds_ = false, in_place_ = false, gathers_ = false, clears_ = false, holds_ = true;
    Held::What what_ = Held::What::input;
    std::uint16_t input_ = 0, output_ = 0, data_ = 0;
};

}  // namespace

RandomProgram random_held(std::uint64_t seed) { return HeldWriter(seed).write(); }

}  // namespace peal::test
