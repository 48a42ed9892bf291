// SPDX-License-Identifier: Apache-2.0
// Random tiny programs: right and wrong, inside the monotone fragment and outside of it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "check/plans.hpp"

namespace peal::test {

struct RandomProgram {
    Plans plans;
    Meaning meaning;
    bool has_meaning = false;
    int calls = 1;
    bool has_pipes = false;
};

// Writes the instructions of all ranks in one order in which they can happen, so that most programs
// get to their end in some interleaving; then may spoil one.
class RandomWriter {
public:
    RandomWriter(std::uint64_t seed, bool monotone) : random_(seed), monotone_(monotone) {}

    RandomProgram write() {
        const int nranks = pick(2, 3);
        RandomProgram program{Plans(nranks), {}, false, nranks == 2 ? pick(1, 3) : pick(1, 2)};
        Plans& plans = program.plans;
        input_ = plans.argument("input", Direction::in, kBytes, Element::u8);
        output_ = plans.argument("output", Direction::out, kBytes, Element::u8);
        data_ = plans.window("data", kBytes * static_cast<std::uint64_t>(nranks), Element::u8);
        const std::int64_t advance = pick(0, 2);
        // Without one cell per writer, writers meet.
        cells_ = monotone_ && chance(80) ? nranks : pick(1, nranks);
        signal_ = plans.signal("signal", static_cast<std::uint64_t>(cells_), advance);
        relative_ = advance != 0 && chance(70) ? 1 : 0;
        const int length = pick(3, nranks == 2 ? 9 : 7);
        for (int i = 0; i < length; ++i) add(plans);
        if (chance(40)) spoil(plans);
        if (chance(50)) give_meaning(program);
        return program;
    }

private:
    static constexpr std::uint64_t kBytes = 2;

    int pick(int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random_);
    }
    bool chance(int percent) { return pick(1, 100) <= percent; }

    Range part(int rank, std::uint16_t buffer, std::uint64_t bytes) {
        const auto length = static_cast<std::uint64_t>(pick(1, 2));
        return {buffer, rank, static_cast<std::uint64_t>(pick(0, static_cast<int>(bytes - length))),
                length};
    }

    void add(Plans& plans) {
        const int me = pick(0, plans.nranks() - 1);
        const int what = pick(1, 10);
        if (what <= 4) {
            add_data(plans, me);
        } else if (what <= 8) {
            add_notify(plans, me);
        } else {
            add_wait(plans, me);
        }
    }

    void add_data(Plans& plans, int me) {
        RankPlan rank = plans.on(me);
        if (written_.empty() || chance(50)) {
            const std::uint64_t window = kBytes * static_cast<std::uint64_t>(plans.nranks());
            const Range there = part(pick(0, plans.nranks() - 1), data_, window);
            if (chance(30)) {
                const Element element = chance(90) ? Element::u8 : Element::i8;
                rank.accumulate(there, rank.in(input_, 0, there.length), element);
            } else if (chance(10)) {
                rank.fill(there, 0, Element::u8);
            } else {
                rank.copy(there, rank.in(input_, 0, there.length));
            }
            written_.push_back(there);
            return;
        }
        const Range there = some_written();
        const Range here = rank.in(output_, 0, there.length);
        if (chance(50)) {
            rank.copy(here, there);
        } else {
            Range more = some_written();
            more.length = 1;
            rank.reduce(rank.in(output_, 0, 1),
                        {RankPlan::at(there.rank, data_, there.offset, 1), more}, ReduceOp::sum,
                        Element::u8);
        }
    }

    // So that most reads have something to read.
    Range some_written() {
        return written_[static_cast<std::size_t>(pick(0, static_cast<int>(written_.size()) - 1))];
    }

    void add_notify(Plans& plans, int me) {
        const int peer = pick(0, plans.nranks() - 1);
        const int cell = cells_ == plans.nranks() && monotone_ ? me : pick(0, cells_ - 1);
        std::int64_t& value = values_[{peer, cell}];
        const bool sets = chance(60);
        const auto index = static_cast<std::uint64_t>(cell);
        if (sets) {
            value = monotone_ ? value + pick(0, 2) : pick(0, 3);
            plans.on(me).set(signal_, peer, index, {value, relative_});
        } else {
            const std::int64_t by = monotone_ ? pick(1, 2) : pick(-1, 2);
            value += by;
            plans.on(me).increase(signal_, peer, index, fixed(by));
        }
        if (chance(70)) add_wait_on(plans, peer, cell);
    }

    void add_wait(Plans& plans, int me) { add_wait_on(plans, me, pick(0, cells_ - 1)); }

    void add_wait_on(Plans& plans, int me, int cell) {
        const std::int64_t value = values_[{me, cell}];
        const auto index = static_cast<std::uint64_t>(cell);
        if (monotone_ || chance(40)) {
            plans.on(me).wait(signal_, index, Compare::ge, {value - pick(0, 1), relative_});
            return;
        }
        switch (pick(1, 4)) {
            case 1: plans.on(me).wait(signal_, index, Compare::ne, {value + 1, relative_}); break;
            case 2: plans.on(me).wait(signal_, index, Compare::le, {value, relative_}); break;
            default: plans.on(me).wait(signal_, index, Compare::eq, {value, relative_}); break;
        }
    }

    void spoil(Plans& plans) {
        std::vector<Instruction>& list =
            plans.list()[static_cast<std::size_t>(pick(0, plans.nranks() - 1))].instructions;
        if (list.empty()) return;
        const auto at = list.begin() + pick(0, static_cast<int>(list.size()) - 1);
        if (chance(50) && at + 1 != list.end()) {
            std::swap(*at, *(at + 1));
        } else {
            list.erase(at);
        }
    }

    void give_meaning(RandomProgram& program) {
        program.has_meaning = true;
        program.meaning.name = "random";
        const int rank = pick(0, program.plans.nranks() - 1);
        std::vector<Contribution> of;
        for (int i = 0; i < pick(1, 2); ++i) {
            of.push_back({pick(0, program.plans.nranks() - 1), input_, 0});
        }
        program.meaning.outputs.push_back({rank, output_, 0, 1,
                                           std::make_shared<const std::vector<Contribution>>(of),
                                           ReduceOp::sum, Element::u8});
        if (chance(50)) program.meaning.staged.push_back({rank, data_, 0, 1});
    }

    std::mt19937_64 random_;
    bool monotone_;
    std::uint16_t input_ = 0, output_ = 0, data_ = 0, signal_ = 0;
    int cells_ = 1;
    std::int64_t relative_ = 0;
    std::vector<Range> written_;
    std::map<std::pair<int, int>, std::int64_t> values_;
};

// A tile processor's loop of load, vector work and store, with flags in between and a drain before
// each notify; then some of that is left out or moved.
class RandomPipeWriter {
public:
    explicit RandomPipeWriter(std::uint64_t seed) : random_(seed) {}

    RandomProgram write() {
        RandomProgram program{Plans(pick(1, 2)), {}, false, pick(1, 2), true};
        Plans& plans = program.plans;
        const std::uint16_t input = plans.argument("input", Direction::in, 2, Element::u8);
        const std::uint16_t data = plans.window("data", 2, Element::u8);
        const std::uint16_t signal = plans.signal("signal", 2, 1);
        plans.tile_bytes(2);
        for (int me = 0; me < plans.nranks(); ++me) {
            RankPlan rank = plans.on(me);
            const int peer = plans.nranks() - 1 - me;
            rank.copy(rank.tile(0, 1), rank.in(input, 0, 1), Pipe::load);
            hand_over(rank, Pipe::load, Pipe::vector);
            rank.reduce(rank.tile(1, 1), {rank.tile(0, 1), rank.tile(0, 1)}, ReduceOp::sum,
                        Element::u8, Pipe::vector);
            hand_over(rank, Pipe::vector, Pipe::store);
            if (chance(30)) {
                const int to = chance(50) ? me : peer;
                rank.accumulate(RankPlan::at(to, data, 0, 1), rank.tile(1, 1), Element::u8,
                                Pipe::store);
            } else {
                rank.copy(rank.in(data, 0, 1), rank.tile(1, 1), Pipe::store);
            }
            if (chance(50)) {
                rank.set_flag(Pipe::store, Pipe::scalar).wait_flag(Pipe::store, Pipe::scalar);
            } else {
                rank.drain();
            }
            if (plans.nranks() == 2) {
                rank.set(signal, peer, 0, now(1)).wait(signal, 0, now(1));
                rank.copy(rank.tile(0, 1), RankPlan::at(peer, data, 0, 1), Pipe::load);
                rank.drain();
                rank.set(signal, peer, 1, now(1)).wait(signal, 1, now(1));
            }
        }
        for (int i = pick(0, 2); i > 0; --i) spoil(plans);
        return program;
    }

private:
    int pick(int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random_);
    }
    bool chance(int percent) { return pick(1, 100) <= percent; }

    // Sometimes by way of a unit that does nothing else.
    void hand_over(RankPlan& rank, Pipe from, Pipe to) {
        constexpr std::array kDetours = {Pipe::cube, Pipe::cube_load, Pipe::cube_store};
        if (chance(20)) {
            const Pipe detour = kDetours[static_cast<std::size_t>(pick(0, 2))];
            rank.set_flag(from, detour).wait_flag(from, detour);
            from = detour;
        }
        rank.set_flag(from, to).wait_flag(from, to);
    }

    void spoil(Plans& plans) {
        std::vector<Instruction>& list =
            plans.list()[static_cast<std::size_t>(pick(0, plans.nranks() - 1))].instructions;
        const auto at = list.begin() + pick(0, static_cast<int>(list.size()) - 2);
        if (std::holds_alternative<SetFlag>(at->action) ||
            std::holds_alternative<WaitFlag>(at->action) || chance(60)) {
            std::swap(*at, *(at + 1));
        } else {
            list.erase(at);
        }
    }

    std::mt19937_64 random_;
};

// All ranks add to the windows of some: clear, meet, add, meet, take, meet; then some of that is
// left out, moved or done in another way.
class RandomGatherWriter {
public:
    explicit RandomGatherWriter(std::uint64_t seed) : random_(seed) {}

    RandomProgram write() {
        const int nranks = pick(2, 3);
        RandomProgram program{Plans(nranks), {}, true, nranks == 2 ? pick(1, 2) : 1, false};
        Plans& plans = program.plans;
        input_ = plans.argument("input", Direction::in, 1, Element::u8);
        output_ = plans.argument("output", Direction::out, 1, Element::u8);
        data_ = plans.window("data", 1, Element::u8);
        signal_ = plans.signal("signal", 9, 1);
        const int targets = nranks == 2 && chance(50) ? 2 : 1;
        const bool clears = chance(70), meets_first = chance(80);
        for (int me = 0; me < nranks; ++me) {
            RankPlan rank = plans.on(me);
            if (clears && me < targets) rank.fill(rank.in(data_, 0, 1), 0, Element::u8);
            if (clears && meets_first) meet(plans, me, 0);
            for (int to = 0; to < targets; ++to) add(rank, to);
            meet(plans, me, 1);
            if (me < targets) rank.copy(rank.in(output_, 0, 1), rank.in(data_, 0, 1));
            if (program.calls > 1 && chance(90)) meet(plans, me, 2);
        }
        if (chance(40)) spoil(plans);
        give_meaning(program, targets);
        return program;
    }

private:
    int pick(int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random_);
    }
    bool chance(int percent) { return pick(1, 100) <= percent; }

    void meet(Plans& plans, int me, int round) {
        RankPlan rank = plans.on(me);
        const auto cell = [&](int of) { return static_cast<std::uint64_t>(3 * round + of); };
        for (int peer = 0; peer < plans.nranks(); ++peer) {
            if (peer != me) rank.set(signal_, peer, cell(me), now(1));
        }
        for (int peer = 0; peer < plans.nranks(); ++peer) {
            if (peer != me) rank.wait(signal_, cell(peer), now(1));
        }
    }

    void add(RankPlan& rank, int to) {
        const Range there = RankPlan::at(to, data_, 0, 1);
        const Range mine = rank.in(input_, 0, 1);
        const int way = pick(1, 100);
        if (way <= 92) {
            rank.accumulate(there, mine, Element::u8);
        } else if (way <= 96) {
            rank.accumulate(there, mine, Element::i8);
        } else {
            rank.reduce(there, {there, mine}, ReduceOp::sum, Element::u8);
        }
    }

    void spoil(Plans& plans) {
        std::vector<Instruction>& list =
            plans.list()[static_cast<std::size_t>(pick(0, plans.nranks() - 1))].instructions;
        const auto at = list.begin() + pick(0, static_cast<int>(list.size()) - 2);
        if (chance(50)) {
            std::swap(*at, *(at + 1));
        } else {
            list.erase(at);
        }
    }

    void give_meaning(RandomProgram& program, int targets) {
        program.meaning.name = "gathered";
        std::vector<Contribution> of;
        for (int rank = 0; rank < program.plans.nranks(); ++rank) of.push_back({rank, input_, 0});
        const auto all = std::make_shared<const std::vector<Contribution>>(of);
        for (int rank = 0; rank < targets; ++rank) {
            program.meaning.outputs.push_back(
                {rank, output_, 0, 1, all, ReduceOp::sum, Element::u8});
        }
        program.meaning.same_bits = true;
    }

    std::mt19937_64 random_;
    std::uint16_t input_ = 0, output_ = 0, data_ = 0, signal_ = 0;
};

}  // namespace peal::test
