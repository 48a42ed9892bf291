// SPDX-License-Identifier: Apache-2.0
// What mode=auto stands for.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "collectives/site.hpp"
#include "peal/collective.hpp"

namespace peal::collectives {

// Applies to vectors of at most max_bytes (bytes of `count` elements) on at most max_ranks.
struct Choice {
    std::int64_t max_bytes;
    std::int64_t max_ranks;
    std::string_view mode;
};
inline constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

// The first that applies is taken; the last applies always. All are closed, take data anywhere and
// need a target of the same size.
std::span<const Choice> choices(CollectiveKind kind);

ExprPtr condition_of(const Choice& choice, const Site& at);

}  // namespace peal::collectives
