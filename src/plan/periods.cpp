// SPDX-License-Identifier: Apache-2.0
#include "plan/periods.hpp"

#include <algorithm>
#include <numeric>

#include "plan/arithmetic.hpp"

namespace peal::plan {
namespace {

using ir::BinaryOp;

constexpr std::uint64_t kMostRounds = 64;
// Within these, no number that grows leaves the integers, and nor does a difference of two.
constexpr std::uint64_t kMostPeriods = std::uint64_t{1} << 22;
constexpr std::int64_t kMostStep = std::int64_t{1} << 38;
constexpr std::int64_t kMostValue = std::int64_t{1} << 60;

bool is_small(std::int64_t number, std::int64_t most) { return -most < number && number < most; }

}  // namespace

void Periods::begin(std::uint64_t rounds, std::uint64_t most) {
    rounds_ = wanted_ = rounds;
    alike_ = std::clamp<std::uint64_t>(most, 1, kMostPeriods);
}

void Periods::limit(std::uint64_t periods) { alike_ = std::min(alike_, periods); }

void Periods::at_least(Number number, std::int64_t bound) {
    if (number.step >= 0) return;
    const auto room = static_cast<std::uint64_t>(number.value - bound);
    limit(room / static_cast<std::uint64_t>(-number.step) + 1);
}

void Periods::at_most(Number number, std::int64_t bound) {
    if (number.step <= 0) return;
    const auto room = static_cast<std::uint64_t>(bound - number.value);
    limit(room / static_cast<std::uint64_t>(number.step) + 1);
}

void Periods::compare(BinaryOp op, Number a, Number b) {
    if (a.step == b.step) return;
    if (!is_small(a.value, kMostValue) || !is_small(b.value, kMostValue)) return end();
    // The sides are told apart at 0 and below 0, or above 0 and at 0.
    Number apart{a.value - b.value, a.step - b.step};
    if (op == BinaryOp::le || op == BinaryOp::gt) --apart.value;
    if (op == BinaryOp::eq || op == BinaryOp::ne) {
        if (apart.value == 0) return end();
        return apart.value < 0 ? at_most(apart, -1) : at_least(apart, 1);
    }
    return apart.value < 0 ? at_most(apart, -1) : at_least(apart, 0);
}

std::int64_t Periods::step(BinaryOp op, Number a, Number b, std::int64_t value) {
    if (a.step == 0 && b.step == 0) return 0;
    const std::int64_t step = exact_step(op, a, b);
    if (is_small(step, kMostStep) && is_small(value, kMostValue)) return step;
    end();
    return 0;
}

std::int64_t Periods::exact_step(BinaryOp op, Number a, Number b) {
    switch (op) {
        case BinaryOp::add: return a.step + b.step;
        case BinaryOp::sub: return a.step - b.step;
        case BinaryOp::mul: return step_of_product(a, b);
        case BinaryOp::min: return step_of_least(a, b, 1);
        case BinaryOp::max: return step_of_least(a, b, -1);
        case BinaryOp::div: return step_of_quotient(a, b);
        case BinaryOp::mod: return step_of_remainder(a, b);
        default: end(); return 0;
    }
}

std::int64_t Periods::step_of_product(Number a, Number b) {
    const Checked first = apply(BinaryOp::mul, a.step, b.value);
    const Checked second = apply(BinaryOp::mul, a.value, b.step);
    const bool is_exact =
        (a.step == 0 || b.step == 0) && first.problem.empty() && second.problem.empty();
    if (is_exact) return first.value + second.value;
    end();
    return 0;
}

// The sign makes a maximum of it.
std::int64_t Periods::step_of_least(Number a, Number b, std::int64_t sign) {
    if (!is_small(a.value, kMostValue) || !is_small(b.value, kMostValue)) {
        end();
        return 0;
    }
    Number ahead{sign * (b.value - a.value), sign * (b.step - a.step)};
    const bool is_first = ahead.value > 0 || (ahead.value == 0 && ahead.step >= 0);
    if (!is_first) ahead = {-ahead.value, -ahead.step};
    at_least(ahead, 0);
    return is_first ? a.step : b.step;
}

// Either it divides, or the quotient stays until the remainder comes round.
std::int64_t Periods::step_of_quotient(Number a, Number b) {
    if (b.step != 0 || b.value <= 0) {
        end();
        return 0;
    }
    if (a.step % b.value == 0) return a.step / b.value;
    step_of_remainder(a, b);
    return 0;
}

std::int64_t Periods::step_of_remainder(Number a, Number b) {
    if (b.step != 0 || b.value <= 0) {
        end();
        return 0;
    }
    if (a.step % b.value == 0) return 0;
    const Number rest{apply(BinaryOp::mod, a.value, b.value).value, a.step};
    at_least(rest, 0);
    at_most(rest, b.value - 1);
    want(a.step, b.value);
    return a.step;
}

void Periods::want(std::int64_t step, std::int64_t divisor) {
    const std::int64_t times = divisor / std::gcd(step, divisor);
    if (times > static_cast<std::int64_t>(kMostRounds)) return;
    const std::uint64_t wanted = std::lcm(wanted_, rounds_ * static_cast<std::uint64_t>(times));
    if (wanted <= kMostRounds) wanted_ = wanted;
}

}  // namespace peal::plan
