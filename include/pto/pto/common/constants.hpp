// SPDX-License-Identifier: Apache-2.0
// The words of PTO kernels: pipes, events, layouts, and the narrow floats.
#pragma once

#include <bit>
#include <cstdint>

#ifndef AICORE
#define AICORE
#endif
#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__
#endif

enum pipe_t : int {
    PIPE_S = 0,     // scalar work: notify, wait
    PIPE_V = 1,     // vector work
    PIPE_M = 2,     // matrix work
    PIPE_MTE1 = 3,  // between the cube's memories
    PIPE_MTE2 = 4,  // loads: memory to tile
    PIPE_MTE3 = 5,  // stores: tile to memory
    PIPE_ALL = 6,
    PIPE_FIX = 10,  // stores of the cube
};

enum event_t : int {
    EVENT_ID0 = 0,
    EVENT_ID1,
    EVENT_ID2,
    EVENT_ID3,
    EVENT_ID4,
    EVENT_ID5,
    EVENT_ID6,
    EVENT_ID7,
};

// IEEE binary16 and the upper half of binary32, as bits. Both convert from and to float, rounding
// to nearest even.
struct half {
    std::uint16_t bits = 0;

    half() = default;
    half(float value);  // NOLINT(google-explicit-constructor)
    operator float() const;
};

struct bfloat16_t {
    std::uint16_t bits = 0;

    bfloat16_t() = default;
    bfloat16_t(float value) {  // NOLINT(google-explicit-constructor)
        const auto wide = std::bit_cast<std::uint32_t>(value);
        const bool is_nan = (wide & 0x7fffffffu) > 0x7f800000u;
        bits = is_nan ? 0x7fc0
                      : static_cast<std::uint16_t>((wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
    }
    operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

// Scaling by powers of two leaves the rounding to the float unit: adding and taking away a number
// of the right size rounds a value to the last bit that binary16 has.
inline half::half(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((wide >> 16) & 0x8000u);
    const std::uint32_t magnitude = wide & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        bits = 0x7e00;  // NaN
    } else if (magnitude >= 0x477ff000u) {
        bits = sign | 0x7c00;  // rounds to infinity
    } else if (magnitude < 0x38800000u) {
        // Denormal: units of 2^-24 are the last bits of 0.5 + x.
        const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        bits = sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(shifted) & 0xffffu);
    } else {
        const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
        bits = sign | static_cast<std::uint16_t>((rounded - 0x38000000u) >> 13);
    }
}

inline half::operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fu;
    const std::uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0) {
        const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
        return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
    }
    const std::uint32_t wide_exponent = exponent == 0x1f ? 0xffu : exponent + 112;
    return std::bit_cast<float>(sign | wide_exponent << 23 | fraction << 13);
}

namespace pto {

inline constexpr int DYNAMIC = -1;

enum class TileType { Vec, Mat, Left, Right, Acc };
enum class BLayout { RowMajor, ColMajor };
enum class SLayout { NoneBox, RowMajor, ColMajor };
enum class Layout { ND, DN, NZ };
enum class AtomicType { AtomicNone, AtomicAdd };

}  // namespace pto
