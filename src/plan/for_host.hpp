// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "peal/plan.hpp"

namespace peal::plan {

// The plan as a core carries it out that does one thing after another: in an order that its pipes
// allow (plan/pipe_order.hpp), deferred work where it is issued, without flags, barriers and
// fences, fused and validated. Instructions keep their lines, and the buffers are the same. A plan
// that is done in order stays as it is.
//
// What it does is one of the things that the plan may do, so whatever holds for all of these holds
// for it; whoever runs it proves both (check/as_run.hpp). Throws Error(program) when a plan with
// pipes is not valid or waits for a flag that is never set.
Plan for_host(const Plan& plan);
std::vector<Plan> for_host(const std::vector<Plan>& plans);

}  // namespace peal::plan
