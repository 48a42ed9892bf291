// SPDX-License-Identifier: Apache-2.0
// Different calls, one after the other, on the same windows and signals.
#include "check/crosscheck/dice.hpp"

namespace peal::test {
namespace {

class SequenceWriter {
public:
    explicit SequenceWriter(std::uint64_t seed) : dice_(seed), nranks_(dice_.chance(85) ? 2 : 3) {}

    RandomProgram write() {
        RandomProgram program;
        // Long ones are barriers only.
        is_long_ = nranks_ == 2 && dice_.chance(15);
        const int stages = is_long_ ? dice_.pick(1, 2) : dice_.pick(2, nranks_ == 2 ? 3 : 2);
        program.calls = is_long_                      ? dice_.pick(3, 5)
                        : nranks_ == 2 && stages == 2 ? dice_.pick(1, 2)
                                                      : 1;
        size_ = dice_.one_of<std::uint64_t>({1, 2, 4});
        way_ = Meeting::any_way(dice_);
        stride_ = dice_.one_of<std::uint64_t>({64, 64, 8, 16});
        cell_ = dice_.chance(70) ? Element::i32 : Element::i64;
        if (dice_.chance(10)) base_ = 2147483647 - dice_.pick(0, 6);
        shares_signals_ = dice_.chance(70);
        for (int i = 0; i < stages; ++i) program.stages.push_back(write_stage(i));
        if (dice_.chance(40)) {
            spoil(dice_, program.stages[static_cast<std::size_t>(dice_.pick(0, stages - 1))].plans);
        }
        return program;
    }

private:
    RandomStage write_stage(int number) {
        Plans plans(nranks_, "stage" + std::to_string(number));
        const auto bytes = size_ * static_cast<std::uint64_t>(nranks_);
        input_ = plans.argument("input", Direction::in, size_, Element::u8);
        output_ = plans.argument("output", Direction::out, bytes, Element::u8);
        // Sometimes the same memory by another name.
        const bool renamed = dice_.chance(25);
        data_ = plans.window(renamed ? "inbox" : "data", bytes, Element::u8);
        plans.tile_bytes(size_);
        const int what = is_long_ ? 1 : dice_.pick(1, 5);
        const int phases = what == 1 ? 1 : 2;
        Meeting meeting = make_meeting(plans, number, phases);
        RandomStage stage;
        if (what == 1) {
            stage = barrier(plans, meeting);
        } else if (what <= 3) {
            stage = exchange(plans, meeting, what == 2);
        } else {
            stage = in_place(plans, meeting);
        }
        if (renamed) {
            for (const Buffer& buffer : stage.plans[0].buffers) {
                stage.memory.push_back(buffer.name == "inbox" ? "data" : buffer.name);
            }
        }
        return stage;
    }

    Meeting make_meeting(Plans& plans, int number, int phases) {
        const std::string name = shares_signals_ ? "signal" : "signal" + std::to_string(number);
        const std::uint64_t stride = dice_.chance(93) ? stride_ : 64;
        return {plans,  name,  phases, dice_.chance(95) ? way_ : Meeting::any_way(dice_),
                stride, cell_, base_};
    }

    RandomStage barrier(Plans& plans, const Meeting& meeting) {
        for (int me = 0; me < nranks_; ++me) meeting.meet(plans, me, 0);
        RandomStage stage = stage_of(plans);
        stage.has_meaning = true;
        stage.meaning.name = "barrier";
        stage.meaning.meets = true;
        return stage;
    }

    // Everybody's input to everybody, by writing there or by reading there.
    RandomStage exchange(Plans& plans, const Meeting& meeting, bool pushes) {
        const auto block = [&](int rank) { return size_ * static_cast<std::uint64_t>(rank); };
        const bool meets_again = dice_.chance(90);
        for (int me = 0; me < nranks_; ++me) {
            RankPlan rank = plans.on(me);
            Range mine = rank.in(input_, 0, size_);
            if (dice_.chance(20)) {
                rank.copy(rank.tile(0, size_), mine);
                mine = rank.tile(0, size_);
            }
            for (int peer = 0; peer < nranks_; ++peer) {
                const Range there = RankPlan::at(peer, data_, block(me), size_);
                if (pushes || peer == me) rank.copy(there, mine);
            }
            meeting.meet(plans, me, 0);
            for (int peer = 0; peer < nranks_; ++peer) {
                rank.copy(rank.in(output_, block(peer), size_),
                          RankPlan::at(pushes ? me : peer, data_, block(peer), size_));
            }
            if (meets_again) meeting.meet(plans, me, 1);
        }
        RandomStage stage = stage_of(plans);
        stage.has_meaning = true;
        stage.meaning.name = "allgather";
        for (int me = 0; me < nranks_; ++me) {
            for (int peer = 0; peer < nranks_; ++peer) {
                stage.meaning.outputs.push_back({me, output_, block(peer), size_,
                                                 contributions({{peer, input_, 0}}), ReduceOp::sum,
                                                 Element::u8});
            }
        }
        return stage;
    }

    // The caller writes the windows, rank 0 sums them up there.
    RandomStage in_place(Plans& plans, const Meeting& meeting) {
        const Element element = size_ == 1 ? Element::u8 : size_ == 2 ? Element::i16 : Element::i32;
        std::vector<Contribution> of;
        Meaning meaning;
        for (int me = 0; me < nranks_; ++me) {
            meeting.meet(plans, me, 0);
            if (me == 0) {
                std::vector<Range> all;
                for (int rank = 0; rank < nranks_; ++rank) {
                    all.push_back(RankPlan::at(rank, data_, 0, size_));
                }
                plans.on(0).reduce(all[0], all, ReduceOp::sum, element);
            }
            meeting.meet(plans, me, 1);
            meaning.staged.push_back({me, data_, 0, size_});
            of.push_back({me, data_, 0});
        }
        RandomStage stage = stage_of(plans);
        stage.has_meaning = true;
        meaning.name = "reduce";
        meaning.outputs.push_back(
            {0, data_, 0, size_, contributions(of), ReduceOp::sum, element, true});
        stage.meaning = std::move(meaning);
        return stage;
    }

    Dice dice_;
    int nranks_;
    std::uint64_t size_ = 1, stride_ = 64;
    int way_ = 0;
    std::int64_t base_ = 0;
    Element cell_ = Element::i32;
    bool shares_signals_ = true, is_long_ = false;
    std::uint16_t input_ = 0, output_ = 0, data_ = 0;
};

}  // namespace

RandomProgram random_sequence(std::uint64_t seed) { return SequenceWriter(seed).write(); }

}  // namespace peal::test
