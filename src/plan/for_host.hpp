// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "peal/plan.hpp"

namespace peal::plan {

// The plan as a core carries it out that does one thing after another: in an order that its pipes
// allow (plan/pipe_order.hpp), without flags and barriers, fused and validated. Instructions keep
// their lines, and the buffers are the same. A plan without pipes stays as it is.
//
// What it does is one of the things that the pipes may do, so whatever holds for all of these holds
// for it; `peal run` proves both. Throws Error(program) when a plan with pipes is not valid or
// waits for a flag that is never set.
Plan for_host(const Plan& plan);
std::vector<Plan> for_host(const std::vector<Plan>& plans);

}  // namespace peal::plan
