// SPDX-License-Identifier: Apache-2.0
#include "plan/limits.hpp"

#include <cmath>
#include <limits>

namespace peal {
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

}  // namespace peal
