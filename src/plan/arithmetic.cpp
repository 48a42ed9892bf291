// SPDX-License-Identifier: Apache-2.0
#include "plan/arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace peal::plan {
namespace {

using ir::BinaryOp;

constexpr std::string_view kOverflow = "the result does not fit in 64 bits";
constexpr std::string_view kDivisionByZero = "division by zero";
constexpr std::string_view kBadShift = "the shift is not in 0..62";
constexpr std::string_view kBadLog2 = "log2 needs a number above 0";
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

Checked sum(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    const bool overflow = __builtin_add_overflow(a, b, &result);
    return {result, overflow ? kOverflow : ""};
}

Checked difference(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    const bool overflow = __builtin_sub_overflow(a, b, &result);
    return {result, overflow ? kOverflow : ""};
}

Checked product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    const bool overflow = __builtin_mul_overflow(a, b, &result);
    return {result, overflow ? kOverflow : ""};
}

Checked divide(std::int64_t a, std::int64_t b) {
    if (b == 0) return {0, kDivisionByZero};
    if (a == kMin && b == -1) return {0, kOverflow};
    const bool inexact_below_zero = a % b != 0 && (a < 0) != (b < 0);
    return {a / b - inexact_below_zero, {}};
}

Checked remainder(std::int64_t a, std::int64_t b) {
    if (b == 0) return {0, kDivisionByZero};
    if (b == -1) return {0, {}};
    const std::int64_t rest = a % b;
    const bool wrong_sign = rest != 0 && (rest < 0) != (b < 0);
    return {wrong_sign ? rest + b : rest, {}};
}

Checked shift_left(std::int64_t a, std::int64_t by) {
    if (by < 0 || by > 62) return {0, kBadShift};
    return product(a, std::int64_t{1} << by);
}

Checked shift_right(std::int64_t a, std::int64_t by) {
    if (by < 0 || by > 62) return {0, kBadShift};
    return {a >> by, {}};
}

}  // namespace

Checked apply(BinaryOp op, std::int64_t a, std::int64_t b) {
    switch (op) {
        case BinaryOp::add: return sum(a, b);
        case BinaryOp::sub: return difference(a, b);
        case BinaryOp::mul: return product(a, b);
        case BinaryOp::div: return divide(a, b);
        case BinaryOp::mod: return remainder(a, b);
        case BinaryOp::min: return {std::min(a, b), {}};
        case BinaryOp::max: return {std::max(a, b), {}};
        case BinaryOp::shl: return shift_left(a, b);
        case BinaryOp::shr: return shift_right(a, b);
        case BinaryOp::bit_xor: return {a ^ b, {}};
        default: return {0, "not an arithmetic operator"};
    }
}

Checked negate(std::int64_t a) { return apply(BinaryOp::sub, 0, a); }

Checked floor_log2(std::int64_t a) {
    if (a <= 0) return {0, kBadLog2};
    return {static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(a))) - 1, {}};
}

bool compare(BinaryOp op, std::int64_t a, std::int64_t b) {
    switch (op) {
        case BinaryOp::eq: return a == b;
        case BinaryOp::ne: return a != b;
        case BinaryOp::lt: return a < b;
        case BinaryOp::le: return a <= b;
        case BinaryOp::gt: return a > b;
        case BinaryOp::ge: return a >= b;
        default: std::abort();
    }
}

namespace {

struct Bounds {
    std::int64_t low, high;
};

template <class Integer>
constexpr Bounds bounds() {
    return {std::numeric_limits<Integer>::min(), std::numeric_limits<Integer>::max()};
}

Bounds bounds_of(Element element) {
    switch (element) {
        case Element::i8: return bounds<std::int8_t>();
        case Element::i16: return bounds<std::int16_t>();
        case Element::i32: return bounds<std::int32_t>();
        case Element::u8: return bounds<std::uint8_t>();
        case Element::u16: return bounds<std::uint16_t>();
        case Element::u32: return bounds<std::uint32_t>();
        case Element::u64: return {0, bounds<std::int64_t>().high};
        default: return bounds<std::int64_t>();
    }
}

}  // namespace

bool fits(std::int64_t value, Element element) {
    const Bounds bounds = bounds_of(element);
    return bounds.low <= value && value <= bounds.high;
}

bool fits(double value, Element element) {
    if (is_float(element)) return true;
    constexpr double kTwoTo63 = 9223372036854775808.0;
    if (element == Element::u64 && value >= kTwoTo63) return value < 2 * kTwoTo63;
    if (std::trunc(value) != value || value < -kTwoTo63 || value >= kTwoTo63) return false;
    return fits(static_cast<std::int64_t>(value), element);
}

}  // namespace peal::plan
