// SPDX-License-Identifier: Apache-2.0
// Elements one at a time: how each type is stored and combined.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "engine/kernels/scalar.hpp"
#include "peal/element.hpp"

namespace peal::engine::scalar {

// How an element is stored, and the type in which it is combined.
struct F16 {
    using Stored = std::uint16_t;
    static constexpr bool kIsNarrow = true;
    static float decode(Stored bits) { return f32_from_f16(bits); }
    static Stored encode(float value) { return f16_from_f32(value); }
    static Stored encode_exactly(double value) { return f16_from_f64(value); }
};
struct Bf16 {
    using Stored = std::uint16_t;
    static constexpr bool kIsNarrow = true;
    static float decode(Stored bits) { return f32_from_bf16(bits); }
    static Stored encode(float value) { return bf16_from_f32(value); }
    static Stored encode_exactly(double value) { return bf16_from_f64(value); }
};
template <class T>
struct Plain {
    using Stored = T;
    static constexpr bool kIsNarrow = false;
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

template <class Stored>
void put(void* to, std::size_t index, Stored stored) {
    std::memcpy(static_cast<std::byte*>(to) + index * sizeof stored, &stored, sizeof stored);
}

template <class Codec, class T>
void store(void* to, std::size_t index, T value) {
    put(to, index, Codec::encode(value));
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
        case Element::u16: return work(Plain<std::uint16_t>{});
        case Element::u32: return work(Plain<std::uint32_t>{});
        case Element::u64: return work(Plain<std::uint64_t>{});
    }
}

}  // namespace peal::engine::scalar
