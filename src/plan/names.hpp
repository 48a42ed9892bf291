// SPDX-License-Identifier: Apache-2.0
// The words of plans in texts and JSON, as lists to look them up in.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "peal/plan.hpp"

namespace peal::plan {

inline constexpr std::array kBufferKinds = {BufferKind::argument, BufferKind::window,
                                            BufferKind::signal};
inline constexpr std::array kDirections = {Direction::unknown, Direction::in, Direction::out,
                                           Direction::inout};
inline constexpr std::array kMapOps = {MapOp::fill,    MapOp::add_scalar, MapOp::mul_scalar,
                                       MapOp::convert, MapOp::row_sum,    MapOp::clobber};
inline constexpr std::array kNotifyOps = {NotifyOp::set, NotifyOp::add};
inline constexpr std::array kCompares = {Compare::eq, Compare::ne, Compare::gt,
                                         Compare::ge, Compare::lt, Compare::le};
inline constexpr std::array kPipes = {Pipe::none,      Pipe::scalar,     Pipe::load,
                                      Pipe::vector,    Pipe::store,      Pipe::cube,
                                      Pipe::cube_load, Pipe::cube_store, Pipe::all};

// The value of that name among `values`.
template <class Enum, std::size_t kCount>
std::optional<Enum> named(const std::array<Enum, kCount>& values, std::string_view wanted) {
    for (const Enum value : values) {
        if (name(value) == wanted) return value;
    }
    return std::nullopt;
}

}  // namespace peal::plan
