// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace peal {

// Of the largest cache that a core has a share in, as the system tells it.
std::uint64_t largest_cache_bytes();

}  // namespace peal
