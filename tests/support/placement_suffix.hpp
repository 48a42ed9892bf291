// SPDX-License-Identifier: Apache-2.0
// Placements in the names of tests.
#pragma once

#include <algorithm>
#include <string>

#include "peal/collective.hpp"

namespace peal::test {

// "", "_in_place", "_window", ...
inline std::string suffix_of(Placement placement) {
    if (placement == Placement::separate) return "";
    std::string suffix = "_" + std::string(name(placement));
    std::replace(suffix.begin(), suffix.end(), ' ', '_');
    return suffix;
}

}  // namespace peal::test
