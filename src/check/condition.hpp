// SPDX-License-Identifier: Apache-2.0
// What a wait asks of its cell.
#pragma once

#include <cstdint>

#include "peal/words.hpp"

namespace peal::checker {

struct Condition {
    Compare compare = Compare::ge;
    std::int64_t value = 0;

    bool holds(std::int64_t cell) const { return compares(cell, compare, value); }
};

// Every value that satisfies `a` satisfies `b`. Values at the ends of the integers are not used.
inline bool implies(const Condition& a, const Condition& b) {
    const auto least = [](const Condition& c) { return c.value + (c.compare == Compare::gt); };
    const auto most = [](const Condition& c) { return c.value - (c.compare == Compare::lt); };
    switch (a.compare) {
        case Compare::eq: return b.holds(a.value);
        case Compare::ne: return b.compare == Compare::ne && b.value == a.value;
        case Compare::ge:
        case Compare::gt:
            if (b.compare == Compare::ge || b.compare == Compare::gt) return least(b) <= least(a);
            return b.compare == Compare::ne && b.value < least(a);
        case Compare::le:
        case Compare::lt:
            if (b.compare == Compare::le || b.compare == Compare::lt) return most(b) >= most(a);
            return b.compare == Compare::ne && b.value > most(a);
    }
    return false;
}

}  // namespace peal::checker
