// SPDX-License-Identifier: Apache-2.0
// Following the rounds of a loop: how many periods of a few rounds each are alike, but for numbers
// that grow by the same step in each. What is worked out in one period says so as it goes: numbers
// come with their steps, and each branch that is taken, minimum that is chosen and remainder that
// is left tells for how many periods it stays like that.
#pragma once

#include <cstdint>

#include "peal/ir.hpp"

namespace peal::plan {

class Periods {
public:
    // It is `value` in this period, and grows by `step`.
    struct Number {
        std::int64_t value = 0;
        std::int64_t step = 0;
    };

    // A period of so many rounds begins; at most so many periods are left, with this one.
    void begin(std::uint64_t rounds, std::uint64_t most);
    // This one and those after it that are like it.
    std::uint64_t alike() const { return alike_; }
    // How many rounds a period should have, so that remainders do not matter.
    std::uint64_t wanted_rounds() const { return wanted_; }

    // No other period is like this one.
    void end() { alike_ = 1; }
    void at_least(Number number, std::int64_t bound);
    void at_most(Number number, std::int64_t bound);
    // A comparison has the same result.
    void compare(ir::BinaryOp op, Number a, Number b);
    // The step of `a op b`, which is `value` in this period. 0 where it ends.
    std::int64_t step(ir::BinaryOp op, Number a, Number b, std::int64_t value);

private:
    void limit(std::uint64_t periods);
    std::int64_t exact_step(ir::BinaryOp op, Number a, Number b);
    std::int64_t step_of_product(Number a, Number b);
    std::int64_t step_of_least(Number a, Number b, std::int64_t sign);
    std::int64_t step_of_quotient(Number a, Number b);
    std::int64_t step_of_remainder(Number a, Number b);
    void want(std::int64_t step, std::int64_t divisor);

    std::uint64_t alike_ = 1;
    std::uint64_t rounds_ = 1;
    std::uint64_t wanted_ = 1;
};

}  // namespace peal::plan
