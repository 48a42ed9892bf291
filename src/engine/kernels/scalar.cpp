// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/scalar.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

namespace peal::scalar {

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

std::uint16_t f16_from_f32(float value) {
    if (std::isnan(value)) return 0x7e00;
    const int sign = std::signbit(value) ? 0x8000 : 0;
    const float magnitude = std::fabs(value);
    // 65504 is the largest f16. From half a step above it on, the nearest is infinity.
    if (magnitude >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00);
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

std::int64_t i64_from_scalar(double scalar) {
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    if (std::isnan(scalar)) return 0;
    if (scalar >= kLimit) return std::numeric_limits<std::int64_t>::max();
    if (scalar < -kLimit) return std::numeric_limits<std::int64_t>::min();
    return static_cast<std::int64_t>(scalar);
}

namespace {

// How an element is stored, and the type in which it is combined.
struct F16 {
    using Stored = std::uint16_t;
    static float decode(Stored bits) { return f32_from_f16(bits); }
    static Stored encode(float value) { return f16_from_f32(value); }
};
struct Bf16 {
    using Stored = std::uint16_t;
    static float decode(Stored bits) { return f32_from_bf16(bits); }
    static Stored encode(float value) { return bf16_from_f32(value); }
};
template <class T>
struct Plain {
    using Stored = T;
    static T decode(T value) { return value; }
    static T encode(T value) {
        if constexpr (std::floating_point<T>) {
            if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
        }
        return value;
    }
};

template <std::integral T>
T combine(ReduceOp op, T a, T b) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    switch (op) {
        case ReduceOp::sum: return static_cast<T>(x + y);
        case ReduceOp::prod: return static_cast<T>(x * y);
        case ReduceOp::max: return std::max(a, b);
        case ReduceOp::min: return std::min(a, b);
    }
    return a;
}

template <std::floating_point T>
T maximum(T a, T b) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
}

template <std::floating_point T>
T combine(ReduceOp op, T a, T b) {
    switch (op) {
        case ReduceOp::sum: return a + b;
        case ReduceOp::prod: return a * b;
        case ReduceOp::max: return maximum(a, b);
        case ReduceOp::min: return -maximum(-a, -b);
    }
    return a;
}

template <class Codec>
auto load(const void* from, std::size_t index) {
    typename Codec::Stored stored;
    std::memcpy(&stored, static_cast<const std::byte*>(from) + index * sizeof stored,
                sizeof stored);
    return Codec::decode(stored);
}

template <class Codec, class T>
void store(void* to, std::size_t index, T value) {
    const typename Codec::Stored stored = Codec::encode(value);
    std::memcpy(static_cast<std::byte*>(to) + index * sizeof stored, &stored, sizeof stored);
}

template <class T>
T scalar_as(double scalar) {
    if constexpr (std::floating_point<T>) {
        return static_cast<T>(scalar);
    } else {
        return static_cast<T>(i64_from_scalar(scalar));
    }
}

// Calls work with the codec of an element.
template <class Work>
void with_codec(Element element, Work work) {
    switch (element) {
        case Element::f16: return work(F16{});
        case Element::bf16: return work(Bf16{});
        case Element::f32: return work(Plain<float>{});
        case Element::f64: return work(Plain<double>{});
        case Element::i8: return work(Plain<std::int8_t>{});
        case Element::i16: return work(Plain<std::int16_t>{});
        case Element::i32: return work(Plain<std::int32_t>{});
        case Element::i64: return work(Plain<std::int64_t>{});
        case Element::u8: return work(Plain<std::uint8_t>{});
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
            }
        }
    });
}

}  // namespace peal::scalar
