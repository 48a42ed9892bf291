// SPDX-License-Identifier: Apache-2.0
// The oracle: kernels.hpp one element at a time, written to be obviously right.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "peal/element.hpp"
#include "peal/plan.hpp"

namespace peal::engine::scalar {

float f32_from_f16(std::uint16_t bits);
float f32_from_bf16(std::uint16_t bits);
// Rounded to nearest even; too large becomes an infinity, NaN becomes the one NaN of kernels.hpp.
std::uint16_t f16_from_f32(float value);
std::uint16_t bf16_from_f32(float value);
std::uint16_t f16_from_f64(double value);
std::uint16_t bf16_from_f64(double value);

// What a map's scalar is for integers: truncated, saturating, 0 for NaN.
std::int64_t i64_from_scalar(double scalar);
std::uint64_t u64_from_scalar(double scalar);  // as above where that is negative, wrapped

template <std::integral T>
T integer_from_scalar(double scalar) {
    return static_cast<T>(std::same_as<T, std::uint64_t>
                              ? u64_from_scalar(scalar)
                              : static_cast<std::uint64_t>(i64_from_scalar(scalar)));
}

void reduce(Element element, ReduceOp op, void* dst, std::span<const void* const> sources,
            std::size_t count);
void convert(Element to, Element from, void* dst, const void* src, std::size_t count);
void row_sum(Element element, void* dst, const void* src, std::size_t count);
void map(MapOp op, Element element, double scalar, void* dst, const void* src, std::size_t count);

}  // namespace peal::engine::scalar
