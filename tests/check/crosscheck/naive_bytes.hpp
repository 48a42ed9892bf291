// SPDX-License-Identifier: Apache-2.0
// The same work on real bytes: four runs beside each other, one byte of each in a word.
#pragma once

#include <cstdint>
#include <span>

#include "peal/plan.hpp"

namespace peal::test {

inline constexpr unsigned kRuns = 4;

using Lanes = std::uint32_t;  // what a byte holds in each run

// Four bytes that nobody could guess from other numbers.
Lanes random_lanes(std::uint64_t a, std::uint64_t b, std::uint64_t c);
// As random_lanes; the bytes at [4k, 4k + 4) are a small whole f32 in each run, so that sums and
// products are exact.
Lanes random_float_lanes(std::uint64_t a, std::uint64_t b, std::uint64_t offset);

// Whether elements of this type can be computed with here.
bool is_computable(Element element);

// out[i] of one element; out and the operands have the bytes of one element.
void combine_lanes(ReduceOp op, Element element, std::span<Lanes> out, std::span<const Lanes> left,
                   std::span<const Lanes> right);
void fill_lanes(Element element, double scalar, std::span<Lanes> out);
void convert_lanes(Element to, Element from, std::span<Lanes> out, std::span<const Lanes> in);

}  // namespace peal::test
