// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace peal {

// What is not known until a kernel meets its arguments. Values are the same on every rank.
struct Bindings {
    std::map<std::string, std::int64_t, std::less<>> integers;  // shape symbols and integer scalars
    std::map<std::string, double, std::less<>> numbers;         // floating scalars
    std::map<std::string, std::vector<std::int64_t>, std::less<>> tables;  // row-major
    bool operator==(const Bindings&) const = default;
};

}  // namespace peal
