// SPDX-License-Identifier: Apache-2.0
// Element types and reductions: the small vocabulary that every room shares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace peal {

enum class Element : std::uint8_t { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

inline constexpr std::array kElements = {Element::f16, Element::bf16, Element::f32, Element::f64,
                                         Element::i8,  Element::i16,  Element::i32, Element::i64,
                                         Element::u8,  Element::u16,  Element::u32, Element::u64};

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
bool is_unsigned(Element element);

// The bits of an f16 or bf16 number, as memory holds them. Peal computes with them; C++20 does not.
enum class f16 : std::uint16_t {};
enum class bf16 : std::uint16_t {};

namespace detail {
template <class T>
constexpr std::optional<Element> element_of() {
    if constexpr (std::is_same_v<T, f16>) return Element::f16;
    if constexpr (std::is_same_v<T, bf16>) return Element::bf16;
    if constexpr (std::is_same_v<T, float>) return Element::f32;
    if constexpr (std::is_same_v<T, double>) return Element::f64;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        if constexpr (std::is_unsigned_v<T>) {
            if constexpr (sizeof(T) == 1) return Element::u8;
            if constexpr (sizeof(T) == 2) return Element::u16;
            if constexpr (sizeof(T) == 4) return Element::u32;
            if constexpr (sizeof(T) == 8) return Element::u64;
        } else {
            if constexpr (sizeof(T) == 1) return Element::i8;
            if constexpr (sizeof(T) == 2) return Element::i16;
            if constexpr (sizeof(T) == 4) return Element::i32;
            if constexpr (sizeof(T) == 8) return Element::i64;
        }
    }
    return std::nullopt;
}
}  // namespace detail

// C++ types that are elements: f16, bf16, float, double and integers, but not bool.
template <class T>
concept ElementType = detail::element_of<std::remove_const_t<T>>()
.has_value();

template <ElementType T>
inline constexpr Element element_of = *detail::element_of<std::remove_const_t<T>>();

}  // namespace peal
