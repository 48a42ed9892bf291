// SPDX-License-Identifier: Apache-2.0
// Conversions and sums of rows, against a reference that knows every number exactly.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "engine/kernels/kernels.hpp"
#include "engine/kernels/scalar.hpp"
#include "engine/targets.hpp"

namespace peal::engine {
namespace convert_test {

using Bits = std::uint64_t;  // of an element, in the low bytes

template <class T>
T number(Bits bits) {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}
template <class T>
Bits bits_of(T value) {
    Bits bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

// What the bits stand for. Every element fits in the 64 bits of a long double's mantissa.
long double value_of(Element element, Bits bits) {
    switch (element) {
        case Element::f16: return scalar::f32_from_f16(static_cast<std::uint16_t>(bits));
        case Element::bf16: return scalar::f32_from_bf16(static_cast<std::uint16_t>(bits));
        case Element::f32: return number<float>(bits);
        case Element::f64: return number<double>(bits);
        case Element::i8: return number<std::int8_t>(bits);
        case Element::i16: return number<std::int16_t>(bits);
        case Element::i32: return number<std::int32_t>(bits);
        case Element::i64: return static_cast<long double>(number<std::int64_t>(bits));
        case Element::u8: return number<std::uint8_t>(bits);
        case Element::u16: return number<std::uint16_t>(bits);
        case Element::u32: return number<std::uint32_t>(bits);
        case Element::u64: return static_cast<long double>(bits);
    }
    return 0;
}

// Among all 16-bit numbers: their bits count up with their values, and `infinity` follows the
// largest one at the same distance.
Bits nearest_narrow(Element element, Bits infinity, Bits nan, long double value) {
    if (std::isnan(value)) return nan;
    const Bits sign = std::signbit(value) ? 0x8000 : 0;
    const long double wanted = std::fabs(value);
    const auto at = [&](Bits bits) {
        if (bits < infinity) return value_of(element, bits);
        const long double last = value_of(element, infinity - 1);
        return last + (last - value_of(element, infinity - 2));
    };
    Bits below = 0;
    for (Bits step = 0x4000; step > 0; step /= 2) {
        if (below + step <= infinity && at(below + step) <= wanted) below += step;
    }
    if (below == infinity) return sign | infinity;
    const long double middle = (at(below) + at(below + 1)) / 2;
    const bool up = wanted > middle || (wanted == middle && below % 2 == 1);
    return sign | (below + up);
}

template <class T>
Bits nearest_integer(long double value) {
    if (std::isnan(value)) return 0;
    const long double whole = std::nearbyint(value);
    if (whole <= static_cast<long double>(std::numeric_limits<T>::min())) {
        return bits_of(std::numeric_limits<T>::min());
    }
    if (whole >= static_cast<long double>(std::numeric_limits<T>::max())) {
        return bits_of(std::numeric_limits<T>::max());
    }
    return bits_of(static_cast<T>(whole));
}

template <class T>
Bits nearest_float(long double value) {
    return bits_of(std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(value));
}

Bits low_bytes(Bits bits, Element element) {
    return bytes_of(element) == 8 ? bits : bits & ((Bits{1} << 8 * bytes_of(element)) - 1);
}

Bits converted(Element to, Element from, Bits bits) {
    const long double value = value_of(from, bits);
    if (!is_float(to) && !is_float(from)) {
        return low_bytes(value < 0 ? bits_of(static_cast<std::int64_t>(value))
                                   : static_cast<std::uint64_t>(value),
                         to);
    }
    switch (to) {
        case Element::f16: return nearest_narrow(to, 0x7c00, 0x7e00, value);
        case Element::bf16: return nearest_narrow(to, 0x7f80, 0x7fc0, value);
        case Element::f32: return nearest_float<float>(value);
        case Element::f64: return nearest_float<double>(value);
        case Element::i8: return nearest_integer<std::int8_t>(value);
        case Element::i16: return nearest_integer<std::int16_t>(value);
        case Element::i32: return nearest_integer<std::int32_t>(value);
        case Element::i64: return nearest_integer<std::int64_t>(value);
        case Element::u8: return nearest_integer<std::uint8_t>(value);
        case Element::u16: return nearest_integer<std::uint16_t>(value);
        case Element::u32: return nearest_integer<std::uint32_t>(value);
        case Element::u64: return nearest_integer<std::uint64_t>(value);
    }
    return 0;
}

// Any bits at all, numbers of every size, and numbers at and beside the borders of types.
std::vector<Bits> samples(Element from, std::mt19937_64& random) {
    std::vector<Bits> list;
    for (int i = 0; i < 400; ++i) list.push_back(low_bytes(random(), from));
    if (!is_float(from)) {
        for (int shift = 0; shift < 64; ++shift) {
            for (const Bits near : {Bits{0}, Bits{1}, ~Bits{0}}) {
                for (const Bits high : {Bits{1}, Bits{3}, Bits{257}, Bits{259}, Bits{2049}}) {
                    list.push_back(low_bytes((high << shift) + near, from));
                    list.push_back(low_bytes(~((high << shift) + near), from));
                }
            }
        }
        return list;
    }
    for (int exponent = -150; exponent < 135; ++exponent) {
        for (const double mantissa : {1.0, 1.5, 1.0 + 0x1p-8, 1.0 + 0x1p-11, 1.0 + 0x1p-8 + 0x1p-40,
                                      1.0 + 0x1p-11 - 0x1p-40, 2.0 - 0x1p-9, 2.0 - 0x1p-12}) {
            for (const double sign : {1.0, -1.0}) {
                const double value = sign * std::ldexp(mantissa, exponent);
                list.push_back(converted(from, Element::f64, bits_of(value)));
            }
        }
    }
    for (const double value : {0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 127.5, 128.5, -128.5, 255.5,
                               2147483647.5, 9.3e18, -9.3e18, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
        list.push_back(converted(from, Element::f64, bits_of(value)));
    }
    return list;
}

TEST(Convert, GivesTheNearestOnEveryTarget) {
    std::mt19937_64 random(1);
    for (const Element from : kElements) {
        const std::vector<Bits> list = samples(from, random);
        std::vector<std::byte> source(list.size() * bytes_of(from));
        for (std::size_t i = 0; i < list.size(); ++i) {
            std::memcpy(source.data() + i * bytes_of(from), &list[i], bytes_of(from));
        }
        for (const Element to : kElements) {
            std::vector<Bits> expected;
            for (const Bits bits : list) expected.push_back(converted(to, from, bits));
            on_every_target([&] {
                std::vector<std::byte> found(list.size() * bytes_of(to));
                kernels::convert(to, from, found.data(), source.data(), list.size());
                for (std::size_t i = 0; i < list.size(); ++i) {
                    Bits bits = 0;
                    std::memcpy(&bits, found.data() + i * bytes_of(to), bytes_of(to));
                    ASSERT_EQ(bits, expected[i])
                        << name(from) << " to " << name(to) << " of " << std::hex << list[i];
                }
            });
        }
    }
}

TEST(Convert, TakesAnyLengthAndTouchesNothingElse) {
    std::mt19937_64 random(2);
    std::vector<std::byte> source(200 * 8);
    for (std::byte& byte : source) byte = static_cast<std::byte>(random());
    for (const Element from : {Element::f16, Element::bf16, Element::f32, Element::i16}) {
        for (const Element to : {Element::f16, Element::bf16, Element::f32, Element::u8}) {
            for (std::size_t count = 0; count < 70; ++count) {
                std::vector<std::byte> expected(600, std::byte{0xa5});
                scalar::convert(to, from, expected.data() + 3, source.data() + 1, count);
                on_every_target([&] {
                    std::vector<std::byte> found(600, std::byte{0xa5});
                    kernels::convert(to, from, found.data() + 3, source.data() + 1, count);
                    ASSERT_EQ(found, expected) << name(from) << ' ' << name(to) << ' ' << count;
                });
            }
        }
    }
}

TEST(Convert, MayBeInPlaceWhereTheSizesAreTheSame) {
    std::vector<float> numbers(100);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<float>(i) * 1.25F - 40;
    }
    std::vector<std::int32_t> expected;
    for (const float number : numbers) {
        expected.push_back(static_cast<std::int32_t>(std::nearbyint(number)));
    }
    kernels::convert(Element::i32, Element::f32, numbers.data(), numbers.data(), numbers.size());
    EXPECT_EQ(std::memcmp(numbers.data(), expected.data(), 400), 0);
}

// ---------------------------------------------------------------------------- sums of rows

TEST(RowSum, GoesFromLeftToRight) {
    // With another order the small ones would not be lost.
    const std::vector<float> row = {16777216.0F, 1.0F, 1.0F, 1.0F};
    float sum = 0;
    kernels::row_sum(Element::f32, &sum, row.data(), row.size());
    EXPECT_EQ(sum, 16777216.0F);
    const std::vector<float> back = {1.0F, 1.0F, 1.0F, 16777216.0F};
    kernels::row_sum(Element::f32, &sum, back.data(), back.size());
    EXPECT_EQ(sum, 16777220.0F);
}

TEST(RowSum, IntegersWrap) {
    const std::vector<std::int8_t> row = {100, 100, 100};
    std::int8_t sum = 0;
    kernels::row_sum(Element::i8, &sum, row.data(), row.size());
    EXPECT_EQ(sum, static_cast<std::int8_t>(300));
}

// 2048 + 1 + 1 is 2050 in f32. Rounding to f16 after each step would give 2048.
TEST(RowSum, HalvesAreRoundedOnce) {
    const std::vector<std::uint16_t> row = {0x6800, 0x3c00, 0x3c00};
    std::uint16_t sum = 0;
    kernels::row_sum(Element::f16, &sum, row.data(), row.size());
    EXPECT_EQ(sum, 0x6801);
}

TEST(RowSum, NaNHasOneForm) {
    const std::vector<std::uint32_t> row = {0xffc00001};
    std::uint32_t sum = 0;
    kernels::row_sum(Element::f32, &sum, row.data(), row.size());
    EXPECT_EQ(sum, 0x7fc00000U);
}

}  // namespace convert_test
}  // namespace peal::engine
