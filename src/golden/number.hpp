// SPDX-License-Identifier: Apache-2.0
// One element of any type, for work that must be obviously right rather than fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "peal/element.hpp"

namespace peal::golden {

// Floating types use `real`, integers `whole` (wrapped to their width when stored). A natural
// number is a u64, and `whole` has its bits.
struct Number {
    bool floating = false;
    double real = 0;
    std::int64_t whole = 0;
    bool natural = false;

    bool operator==(const Number&) const = default;
};

Number number_of(Element element, std::int64_t value);
Number load(Element element, const std::byte* from);
void store(Element element, std::byte* to, const Number& number);
Number combine(ReduceOp op, const Number& a, const Number& b);
std::string to_text(const Number& number);

}  // namespace peal::golden
