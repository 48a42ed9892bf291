// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/scalar.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include "engine/kernels/codec.hpp"

namespace peal::engine::scalar {

float f32_from_f16(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 0x1f;
    const int mantissa = bits & 0x3ff;
    float magnitude = 0;
    if (exponent == 0x1f) {
        magnitude = mantissa == 0 ? std::numeric_limits<float>::infinity()
                                  : std::numeric_limits<float>::quiet_NaN();
    } else if (exponent == 0) {
        magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    } else {
        magnitude = std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
    }
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::uint16_t f16_from_f32(float value) { return f16_from_f64(value); }

std::uint16_t f16_from_f64(double value) {
    if (std::isnan(value)) return 0x7e00;
    const int sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    // 65504 is the largest f16. From half a step above it on, the nearest is infinity.
    if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00);
    if (magnitude == 0) return static_cast<std::uint16_t>(sign);
    // An f16 is a whole number of units of 2^unit: 1024 to 2047 of them, fewer if denormal.
    const int unit = std::max(std::ilogb(magnitude) - 10, -24);
    const int units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -unit)));
    return static_cast<std::uint16_t>(sign | (((unit + 24) << 10) + units));
}

float f32_from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t bf16_from_f32(float value) {
    if (std::isnan(value)) return 0x7fc0;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t dropped = bits & 0xffff;
    std::uint32_t kept = bits >> 16;
    if (dropped > 0x8000 || (dropped == 0x8000 && kept % 2 == 1)) ++kept;
    return static_cast<std::uint16_t>(kept);
}

std::uint16_t bf16_from_f64(double value) {
    if (std::isnan(value)) return 0x7fc0;
    const int sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    // From half a step above the largest bf16 on, the nearest is infinity.
    if (magnitude >= std::ldexp(511.0, 119)) return static_cast<std::uint16_t>(sign | 0x7f80);
    if (magnitude == 0) return static_cast<std::uint16_t>(sign);
    // As above, with 128 to 255 units.
    const int unit = std::max(std::ilogb(magnitude) - 7, -133);
    const int units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -unit)));
    return static_cast<std::uint16_t>(sign | (((unit + 133) << 7) + units));
}

std::int64_t i64_from_scalar(double scalar) {
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    if (std::isnan(scalar)) return 0;
    if (scalar >= kLimit) return std::numeric_limits<std::int64_t>::max();
    if (scalar < -kLimit) return std::numeric_limits<std::int64_t>::min();
    return static_cast<std::int64_t>(scalar);
}

std::uint64_t u64_from_scalar(double scalar) {
    constexpr double kHalf = 9223372036854775808.0;  // 2^63
    if (scalar >= 2 * kHalf) return std::numeric_limits<std::uint64_t>::max();
    if (scalar >= kHalf) return static_cast<std::uint64_t>(scalar);
    return static_cast<std::uint64_t>(i64_from_scalar(scalar));
}

namespace {

template <class T>
T scalar_as(double scalar) {
    if constexpr (std::floating_point<T>) {
        return static_cast<T>(scalar);
    } else {
        return integer_from_scalar<T>(scalar);
    }
}

// Nearest even, saturating; NaN is 0.
template <std::integral T>
T nearest_integer(double value) {
    const double whole = std::nearbyint(value);
    // 2^63 - 1 is no double; what is at least the next power of two is too large for any T.
    constexpr double kAbove =
        2.0 * static_cast<double>(T{1} << (std::numeric_limits<T>::digits - 1));
    if (std::isnan(whole)) return 0;
    if (whole >= kAbove) return std::numeric_limits<T>::max();
    if (whole < static_cast<double>(std::numeric_limits<T>::min())) {
        return std::numeric_limits<T>::min();
    }
    return static_cast<T>(whole);
}

// An integer as a double from which it can be rounded further as from the integer itself: digits
// that a double has no room for leave an odd last digit behind.
template <std::integral T>
double sticky(T value) {
    constexpr T kDropped = (1 << 12) - 1;
    constexpr T kExact = T{1} << 53;
    const bool is_exact = value < kExact && (std::unsigned_integral<T> || value > -kExact);
    if (is_exact || (value & kDropped) == 0) return static_cast<double>(value);
    return static_cast<double>((value & ~kDropped) | (kDropped + 1) >> 1);
}

template <class Codec, class T>
typename Codec::Stored converted(T value) {
    using Stored = typename Codec::Stored;
    if constexpr (Codec::kIsNarrow && std::integral<T>) {
        using Widest = std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>;
        return Codec::encode_exactly(sticky<Widest>(value));
    } else if constexpr (Codec::kIsNarrow) {
        return Codec::encode_exactly(value);
    } else if constexpr (std::integral<Stored> && std::floating_point<T>) {
        return nearest_integer<Stored>(value);
    } else {
        return Codec::encode(static_cast<Stored>(value));
    }
}

}  // namespace

void reduce(Element element, ReduceOp op, void* dst, std::span<const void* const> sources,
            std::size_t count) {
    assert(!sources.empty());
    with_codec(element, [&]<class Codec>(Codec) {
        for (std::size_t i = 0; i < count; ++i) {
            auto result = load<Codec>(sources[0], i);
            for (const void* source : sources.subspan(1)) {
                result = combine(op, result, load<Codec>(source, i));
            }
            store<Codec>(dst, i, result);
        }
    });
}

void convert(Element to, Element from, void* dst, const void* src, std::size_t count) {
    with_codec(from, [&]<class From>(From) {
        with_codec(to, [&]<class To>(To) {
            for (std::size_t i = 0; i < count; ++i) {
                put(dst, i, converted<To>(load<From>(src, i)));
            }
        });
    });
}

void row_sum(Element element, void* dst, const void* src, std::size_t count) {
    assert(count > 0);
    with_codec(element, [&]<class Codec>(Codec) {
        auto sum = load<Codec>(src, 0);
        for (std::size_t i = 1; i < count; ++i) {
            sum = combine(ReduceOp::sum, sum, load<Codec>(src, i));
        }
        store<Codec>(dst, 0, sum);
    });
}

void map(MapOp op, Element element, double scalar, void* dst, const void* src, std::size_t count) {
    with_codec(element, [&]<class Codec>(Codec) {
        using T = decltype(Codec::decode(typename Codec::Stored{}));
        const T operand = scalar_as<T>(scalar);
        for (std::size_t i = 0; i < count; ++i) {
            switch (op) {
                case MapOp::fill: store<Codec>(dst, i, operand); break;
                case MapOp::add_scalar:
                    store<Codec>(dst, i, combine(ReduceOp::sum, load<Codec>(src, i), operand));
                    break;
                case MapOp::mul_scalar:
                    store<Codec>(dst, i, combine(ReduceOp::prod, load<Codec>(src, i), operand));
                    break;
                case MapOp::convert:
                case MapOp::row_sum:
                case MapOp::clobber: assert(false); break;
            }
        }
    });
}

}  // namespace peal::engine::scalar
