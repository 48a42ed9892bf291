// SPDX-License-Identifier: Apache-2.0
// What recipe=auto stands for: the rules of the table that are for a kernel's target, as
// conditions.
#pragma once

#include <span>

#include "collectives/rules.hpp"
#include "collectives/site.hpp"

namespace peal::collectives {

// The first that fits is taken; the last fits always. All recipes are closed, take data anywhere
// and need a target of the same size.
std::span<const Rule> rules_of_auto(CollectiveKind kind);

// Whether the rule fits, over sizes and ranks that are not known yet.
ExprPtr condition_of(const Rule& rule, const Site& at);

}  // namespace peal::collectives
