// SPDX-License-Identifier: Apache-2.0
// Which numbers an element type can hold.
#pragma once

#include <cstdint>

#include "peal/element.hpp"

namespace peal {

bool fits(std::int64_t value, Element element);

// For floating elements every number fits: it is rounded. For integers it must be a whole number
// in range.
bool fits(double value, Element element);

}  // namespace peal
