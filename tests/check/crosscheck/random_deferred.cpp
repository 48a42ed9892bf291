// SPDX-License-Identifier: Apache-2.0
// Two ranks that put bytes into each other's windows, where the puts are complete by a fence or go
// through a cache; then a fence, an eviction or something else is left out or moved.
#include "check/crosscheck/dice.hpp"

namespace peal::test {
namespace {

constexpr std::uint64_t kLine = 64;

class DeferredWriter {
public:
    explicit DeferredWriter(std::uint64_t seed) : dice_(seed), plans_(2) {}

    RandomProgram write() {
        input_ = plans_.argument("input", Direction::in, 2, Element::u8);
        output_ = plans_.argument("output", Direction::out, 2, Element::u8);
        data_ = plans_.window("data", kLine + 2, Element::u8);
        signal_ = plans_.signal("signal", 2, 1);
        has_pipes_ = dice_.chance(25);
        is_cached_ = dice_.chance(45);
        const bool adds = dice_.chance(15);
        for (int me = 0; me < 2; ++me) write_rank(me, adds);
        RandomProgram program;
        program.calls = dice_.pick(1, 2);
        if (has_pipes_ && dice_.chance(50)) program.order = MemoryOrder::fenced;
        RandomStage stage = stage_of(plans_);
        stage.has_meaning = !adds && !fills_ && dice_.chance(70);
        give_meaning(stage);
        if (dice_.chance(35)) leave_out(stage.plans);
        for (int i = dice_.chance(65) ? 0 : dice_.pick(1, 2); i > 0; --i) {
            spoil_order(dice_, stage.plans);
        }
        program.stages.push_back(std::move(stage));
        return program;
    }

private:
    void write_rank(int me, bool adds) {
        RankPlan rank = plans_.on(me);
        const int peer = 1 - me;
        const auto group = static_cast<std::uint16_t>(dice_.pick(1, 2));
        const Range theirs = RankPlan::at(peer, data_, 0, 1);
        Range from = rank.in(input_, 0, 1);
        const bool stages = dice_.chance(40);
        if (stages) {
            from = rank.in(data_, 1, 1);
            rank.copy(from, rank.in(input_, 0, 1));
            if (dice_.chance(50)) rank.clobber(from);
            if (dice_.chance(50)) rank.copy(from, rank.in(input_, 0, 1));
        }
        if (adds && dice_.chance(70)) {
            rank.accumulate(RankPlan::at(0, data_, 0, 1), from, Element::u8);
        } else {
            rank.copy(theirs, from);
        }
        rank.deferred(group);
        put_second(rank, peer);
        rank.fence(group);
        if (stages && dice_.chance(50)) rank.clobber(from);
        rank.set(signal_, peer, 0, now(1)).wait(signal_, 0, now(1));
        take(rank, peer);
        rank.set(signal_, peer, 1, now(1)).wait(signal_, 1, now(1));
    }

    // The other byte: deferred too, in any group, or through the cache, or on a pipe.
    void put_second(RankPlan& rank, int peer) {
        const Range theirs = RankPlan::at(peer, data_, kLine, 1);
        const Range from = rank.in(input_, 1, 1);
        if (is_cached_) {
            if (dice_.chance(20)) {
                fills_ = true;
                rank.fill(theirs, 7, Element::u8).cached();
            } else {
                rank.copy(theirs, from).cached();
            }
            if (dice_.chance(10)) rank.copy(theirs, from).cached();
            rank.evict(theirs).fence();
        } else if (has_pipes_) {
            rank.copy(theirs, from, Pipe::store);
            if (dice_.chance(50)) {
                rank.drain();
            } else {
                rank.set_flag(Pipe::store, Pipe::scalar).wait_flag(Pipe::store, Pipe::scalar);
            }
            if (dice_.chance(80)) rank.fence();
        } else {
            const auto group = static_cast<std::uint16_t>(dice_.pick(1, 3));
            rank.copy(theirs, from).deferred(group);
            rank.fence(group);
        }
    }

    void take(RankPlan& rank, int peer) {
        const Range mine = rank.in(data_, 0, 1);
        const Range other = rank.in(data_, kLine, 1);
        rank.copy(rank.in(output_, 0, 1), mine);
        if (dice_.chance(30)) {
            rank.deferred(1);
            rank.fence(1);
        }
        if (dice_.chance(60)) {
            rank.evict(other);
            if (dice_.chance(15)) rank.copy(rank.in(output_, 1, 1), other).cached();
            rank.copy(rank.in(output_, 1, 1), other).cached();
            if (dice_.chance(30)) rank.evict(rank.in(output_, 1, 1)).fence();
        } else {
            rank.copy(rank.in(output_, 1, 1), other);
        }
        // Somebody else's byte, through the cache, whatever it is for.
        if (dice_.chance(10)) {
            rank.copy(rank.in(data_, kLine + 1, 1), RankPlan::at(peer, data_, 0, 1)).cached();
        }
    }

    // A fence or an eviction, or the mark of an instruction.
    void leave_out(std::vector<Plan>& plans) {
        std::vector<Instruction>& list =
            plans[static_cast<std::size_t>(dice_.pick(0, 1))].instructions;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const bool completes = std::holds_alternative<Fence>(list[i].action) ||
                                   std::holds_alternative<Evict>(list[i].action);
            if (completes || list[i].group != 0) places.push_back(i);
        }
        if (places.empty()) return;
        const std::size_t at = dice_.one_of(places);
        if (list[at].group != 0) {
            list[at].group = static_cast<std::uint16_t>(dice_.pick(0, 2));
        } else {
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }

    void give_meaning(RandomStage& stage) {
        stage.meaning.name = "exchange";
        for (int rank = 0; rank < 2; ++rank) {
            for (std::uint64_t byte = 0; byte < 2; ++byte) {
                stage.meaning.outputs.push_back({rank, output_, byte, 1,
                                                 contributions({{1 - rank, input_, byte}}),
                                                 ReduceOp::sum, Element::u8, false});
            }
        }
    }

    Dice dice_;
    Plans plans_;
    bool has_pipes_ = false, is_cached_ = false, fills_ = false;
    std::uint16_t input_ = 0, output_ = 0, data_ = 0, signal_ = 0;
};

}  // namespace

RandomProgram random_deferred(std::uint64_t seed) { return DeferredWriter(seed).write(); }

}  // namespace peal::test
