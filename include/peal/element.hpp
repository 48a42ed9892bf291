// SPDX-License-Identifier: Apache-2.0
// Element types and reductions: the small vocabulary that every room shares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace peal {

enum class Element : std::uint8_t { f16, bf16, f32, f64, i8, i16, i32, i64, u8 };

inline constexpr std::array kElements = {Element::f16, Element::bf16, Element::f32,
                                         Element::f64, Element::i8,   Element::i16,
                                         Element::i32, Element::i64,  Element::u8};

// Integers wrap around. f16 and bf16 are accumulated in f32 within one reduce instruction and
// rounded to nearest-even once, when the instruction stores its result.
enum class ReduceOp : std::uint8_t { sum, prod, max, min };

inline constexpr std::array kReduceOps = {ReduceOp::sum, ReduceOp::prod, ReduceOp::max,
                                          ReduceOp::min};

std::string_view name(Element element);
std::string_view name(ReduceOp op);
std::optional<Element> element_from(std::string_view name);
std::optional<ReduceOp> reduce_op_from(std::string_view name);

std::size_t bytes_of(Element element);
bool is_float(Element element);

}  // namespace peal
