// SPDX-License-Identifier: Apache-2.0
// Lists of numbers, as people read them.
#pragma once

#include <iterator>
#include <string>

namespace peal::base {

// Of ascending numbers "0..3, 5"; `shortest` neighbours at least are one range.
template <class Numbers>
std::string ranges_text(const Numbers& numbers, int shortest = 2) {
    std::string text;
    for (auto first = numbers.begin(); first != numbers.end();) {
        auto end = std::next(first);
        int length = 1;
        for (; end != numbers.end() && *end == *first + length; ++end) ++length;
        if (length < shortest) end = std::next(first);
        if (!text.empty()) text += ", ";
        text += std::to_string(*first);
        if (const auto last = std::prev(end); last != first) text += ".." + std::to_string(*last);
        first = end;
    }
    return text;
}

}  // namespace peal::base
