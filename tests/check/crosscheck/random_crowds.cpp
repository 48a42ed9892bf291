// SPDX-License-Identifier: Apache-2.0
// Many add to one cell, with and without an order among them, sometimes close to what it can hold.
// Each leaves a byte first; rank 0 waits for some of the additions and takes the bytes.
#include <array>
#include <utility>

#include "check/crosscheck/dice.hpp"

namespace peal::test {
namespace {

class CrowdWriter {
public:
    explicit CrowdWriter(std::uint64_t seed) : dice_(seed), plans_(dice_.pick(2, 3)) {}

    RandomProgram write() {
        const int nranks = plans_.nranks();
        has_data_ = dice_.chance(60);
        data_ = plans_.window("data", static_cast<std::uint64_t>(nranks), Element::u8);
        counted_ = plans_.signal("counted", 1, 0);
        order_ = plans_.signal("order", static_cast<std::uint64_t>(nranks), 0);
        if (dice_.chance(50)) large_ = 2147483647 - dice_.pick(0, 4);
        largest_ = dice_.pick(0, nranks - 1);
        // In one order in which all of it can happen.
        for (int i = dice_.pick(2, nranks == 2 ? 6 : 5); i > 0; --i) {
            const int me = dice_.pick(0, nranks - 1);
            if (dice_.chance(65)) {
                add(me);
            } else {
                follow(me, dice_.pick(0, nranks - 1));
            }
            if (dice_.chance(30)) take();
        }
        if (dice_.chance(60)) take();
        RandomProgram program;
        program.stages.push_back(stage_of(plans_));
        program.calls = dice_.chance(80) ? 1 : 2;
        return program;
    }

private:
    void add(int me) {
        RankPlan rank = plans_.on(me);
        std::int64_t by = dice_.chance(75) ? dice_.pick(1, 3) : -dice_.pick(1, 3);
        if (large_ != 0 && me == largest_ && dice_.chance(60)) by = std::exchange(large_, 0);
        const auto block = static_cast<std::uint64_t>(me);
        if (has_data_ && !wrote_[block]) {
            rank.fill(RankPlan::at(0, data_, block, 1), me, Element::u8);
            wrote_[block] = true;
        }
        rank.increase(counted_, 0, 0, fixed(by));
        value_ += by;
    }

    // Somebody goes on when another has come so far.
    void follow(int me, int other) {
        if (me == other) return;
        std::int64_t& rung = rung_[static_cast<std::size_t>(3 * me + other)];
        ++rung;
        plans_.on(me).set(order_, other, static_cast<std::uint64_t>(me), fixed(rung));
        plans_.on(other).wait(order_, static_cast<std::uint64_t>(me), fixed(rung));
    }

    void take() {
        RankPlan rank = plans_.on(0);
        const std::int64_t wanted = dice_.chance(80) ? value_ : value_ - 1;
        const bool exact = dice_.chance(15);
        rank.wait(counted_, 0, exact ? Compare::eq : Compare::ge, fixed(wanted));
        for (std::uint64_t block = 0; block < 3; ++block) {
            if (wrote_[block] && dice_.chance(50)) {
                rank.fill(rank.in(data_, block, 1), 0, Element::u8);
            }
        }
    }

    Dice dice_;
    Plans plans_;
    std::uint16_t data_ = 0, counted_ = 0, order_ = 0;
    std::int64_t large_ = 0, value_ = 0;
    int largest_ = 0;
    bool has_data_ = false;
    std::array<bool, 3> wrote_ = {};
    std::array<std::int64_t, 9> rung_ = {};
};

}  // namespace

RandomProgram random_crowd(std::uint64_t seed) { return CrowdWriter(seed).write(); }

}  // namespace peal::test
