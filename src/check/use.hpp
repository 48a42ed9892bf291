// SPDX-License-Identifier: Apache-2.0
// What an op does to bytes that it touches.
#pragma once

#include <cstdint>

#include "peal/element.hpp"

namespace peal::checker {

struct Use {
    enum class Kind : std::uint8_t { read, write, add };
    Kind kind = Kind::read;
    Element element = Element::u8;  // of what is added

    bool operator==(const Use&) const = default;
};

inline constexpr Use kRead{Use::Kind::read};
inline constexpr Use kWrite{Use::Kind::write};
inline constexpr Use use_of_sum(Element element) { return {Use::Kind::add, element}; }

inline bool changes(const Use& use) { return use.kind != Use::Kind::read; }

// Whether two uses of the same bytes must be ordered. Reads need not be, and neither must additions
// of elements of one type: each is atomic, and their destinations are aligned, so their elements
// are the same.
inline bool conflict(const Use& a, const Use& b) {
    const bool both_add = a.kind == Use::Kind::add && b.kind == Use::Kind::add;
    return both_add ? a.element != b.element : changes(a) || changes(b);
}

}  // namespace peal::checker
