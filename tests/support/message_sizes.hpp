// SPDX-License-Identifier: Apache-2.0
// What is done with messages of all sizes, as one line.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace peal::test {

// 0, and around each power of two, half as much again, and three quarters; up to `most`, multiples
// of `unit`.
inline std::vector<std::uint64_t> message_sizes(std::uint64_t unit, std::uint64_t most) {
    std::set<std::uint64_t> sizes = {0};
    for (std::uint64_t power = unit; power <= most; power *= 2) {
        for (const std::uint64_t quarters : {4, 6, 7}) {
            const std::uint64_t at = power * quarters / 4;
            for (const std::uint64_t size : {at - unit, at, at + unit}) {
                if (size <= most && size % unit == 0) sizes.insert(size);
            }
        }
    }
    return {sizes.begin(), sizes.end()};
}

// "push to 1024, pull to 131072, pipeline": what `way` says of each size, where it changes.
inline std::string ways(const std::vector<std::uint64_t>& sizes,
                        const std::function<std::string(std::uint64_t)>& way) {
    std::string text, current = way(sizes.front());
    for (std::size_t i = 1; i < sizes.size(); ++i) {
        const std::string next = way(sizes[i]);
        if (next != current) text += current + " to " + std::to_string(sizes[i - 1]) + ", ";
        current = next;
    }
    return text + current;
}

}  // namespace peal::test
