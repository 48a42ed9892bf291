// SPDX-License-Identifier: Apache-2.0
// A tile processor's loop of load, vector work and store, with flags in between and a drain before
// each notify, and a fence where stores need one; then some of that is left out, moved or issued in
// another order.
#include "check/crosscheck/dice.hpp"

namespace peal::test {
namespace {

bool is_beside(const Instruction& instruction) {
    return instruction.pipe != Pipe::none && instruction.pipe != Pipe::scalar &&
           instruction.pipe != Pipe::all;
}

class PipeWriter {
public:
    PipeWriter(std::uint64_t seed, MemoryOrder order)
        : dice_(seed),
          is_fenced_(order == MemoryOrder::fenced),
          plans_(!is_fenced_ && dice_.chance(50) ? 1 : 2) {}

    RandomProgram write() {
        element_ = dice_.one_of<Element>({Element::u8, Element::u8, Element::i16, Element::i32});
        op_ = dice_.chance(70) ? ReduceOp::sum : ReduceOp::max;
        size_ = bytes_of(element_);
        input_ = plans_.argument("input", Direction::in, 2 * size_, Element::u8);
        output_ = plans_.argument("output", Direction::out, size_, Element::u8);
        data_ = plans_.window("data", size_, Element::u8);
        signal_ = plans_.signal("signal", 2, 1, dice_.chance(50) ? 64 : 8);
        plans_.tile_bytes(4 * size_);
        const bool two_events = dice_.chance(30);
        for (int me = 0; me < plans_.nranks(); ++me) write_rank(me, two_events);
        RandomProgram program;
        if (is_fenced_) program.order = MemoryOrder::fenced;
        program.calls = plans_.nranks() == 1 ? dice_.pick(1, 3) : 1;
        RandomStage stage = stage_of(plans_);
        give_meaning(stage);
        for (int i = dice_.chance(55) ? 0 : dice_.pick(1, 2); i > 0; --i) {
            spoil_order(dice_, stage.plans);
        }
        if (dice_.chance(10)) spoil(dice_, stage.plans);
        for (Plan& plan : stage.plans) {
            if (dice_.chance(60)) issue_in_another_order(plan);
        }
        program.stages.push_back(std::move(stage));
        return program;
    }

private:
    void write_rank(int me, bool two_events) {
        RankPlan rank = plans_.on(me);
        const std::uint8_t event = two_events ? 1 : 0;
        rank.copy(slot(rank, 0), rank.in(input_, 0, size_), Pipe::load);
        if (two_events) rank.copy(slot(rank, 1), rank.in(input_, size_, size_), Pipe::load);
        hand_over(rank, Pipe::load, Pipe::vector, 0);
        if (!two_events) {
            // The same flag again, when it has been taken.
            const bool again = dice_.chance(40);
            if (again && dice_.chance(70)) hand_over(rank, Pipe::vector, Pipe::load, 0);
            rank.copy(slot(rank, 1), rank.in(input_, size_, size_), Pipe::load);
            hand_over(rank, Pipe::load, Pipe::vector, again ? 0 : 1);
        }
        rank.reduce(slot(rank, 2), {slot(rank, 0), slot(rank, 1)}, op_, element_, Pipe::vector);
        hand_over(rank, Pipe::vector, Pipe::store, event);
        const Range mine = rank.in(data_, 0, size_);
        rank.copy(mine, slot(rank, 2), Pipe::store);
        if (plans_.nranks() == 1) {
            if (dice_.chance(50)) rank.drain();
            rank.copy(rank.in(output_, 0, size_), mine, Pipe::store);
            return;
        }
        if (dice_.chance(50)) {
            rank.set_flag(Pipe::store, Pipe::scalar).wait_flag(Pipe::store, Pipe::scalar);
        } else {
            rank.drain();
        }
        if (is_fenced_ && dice_.chance(90)) rank.fence();
        const int peer = 1 - me;
        rank.set(signal_, peer, 0, now(1)).wait(signal_, 0, now(1));
        rank.copy(slot(rank, 3), RankPlan::at(peer, data_, 0, size_), Pipe::load);
        hand_over(rank, Pipe::load, Pipe::store, 2);
        rank.copy(rank.in(output_, 0, size_), slot(rank, 3), Pipe::store);
        rank.drain();
        rank.set(signal_, peer, 1, now(1)).wait(signal_, 1, now(1));
    }

    Range slot(const RankPlan& rank, std::uint64_t number) const {
        return rank.tile(number * size_, size_);
    }

    // Sometimes by way of a unit that does nothing else.
    void hand_over(RankPlan& rank, Pipe from, Pipe to, std::uint8_t event) {
        if (dice_.chance(10)) {
            const Pipe detour = dice_.one_of<Pipe>({Pipe::cube, Pipe::cube_load, Pipe::cube_store});
            rank.set_flag(from, detour, event).wait_flag(from, detour, event);
            from = detour;
        }
        rank.set_flag(from, to, event).wait_flag(from, to, event);
    }

    // Neighbours on different pipes may be issued in any order: nothing that the pipes do changes.
    // Many a flag is then awaited before it is set.
    void issue_in_another_order(Plan& plan) {
        std::vector<Instruction>& list = plan.instructions;
        if (list.size() < 2) return;
        for (std::size_t i = 0; i < 8 * list.size(); ++i) {
            const auto at =
                static_cast<std::size_t>(dice_.pick(0, static_cast<int>(list.size()) - 2));
            if (list[at].pipe != list[at + 1].pipe && is_beside(list[at]) &&
                is_beside(list[at + 1])) {
                std::swap(list[at], list[at + 1]);
            }
        }
    }

    void give_meaning(RandomStage& stage) {
        stage.has_meaning = dice_.chance(70);
        stage.meaning.name = "tiles";
        for (int rank = 0; rank < static_cast<int>(stage.plans.size()); ++rank) {
            const int from = static_cast<int>(stage.plans.size()) - 1 - rank;
            stage.meaning.outputs.push_back(
                {rank, output_, 0, size_, contributions({{from, input_, 0}, {from, input_, size_}}),
                 op_, element_, true});
        }
    }

    Dice dice_;
    bool is_fenced_;
    Plans plans_;
    Element element_ = Element::u8;
    ReduceOp op_ = ReduceOp::sum;
    std::uint64_t size_ = 1;
    std::uint16_t input_ = 0, output_ = 0, data_ = 0, signal_ = 0;
};

}  // namespace

RandomProgram random_pipes(std::uint64_t seed, MemoryOrder order) {
    return PipeWriter(seed, order).write();
}

}  // namespace peal::test
