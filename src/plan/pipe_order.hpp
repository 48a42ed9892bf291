// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "peal/plan.hpp"

namespace peal::plan {

// The instructions of one lane in one call, as indices, in an order in which its pipes may carry
// them out:
//
// - each pipe in the order of the list, and so the scalar unit;
// - on a pipe, after everything that the scalar unit does before it issues the instruction;
// - what drains all pipes, after everything before it;
// - the k-th wait_flag of a flag after its k-th set_flag.
//
// (docs/proof.md, "The model".) Of those that can be next, the first one of the list is: a list
// that is such an order itself stays as it is. A wait_flag may be issued before its set_flag, and
// then it does not.
//
// Whoever goes through a valid plan in this order, one instruction after another, and comes to a
// wait for a signal, w, has done everything that does not follow w. For w is on the scalar unit:
// all that is behind it in the list follows it, by the first two rules. What is before it in the
// list and not done could not be next when w was, or it would have been taken; so it follows
// something that is not done, and so on, until that is w or behind w. So when all ranks are blocked
// in all their lanes in this order, they and all their pipes are blocked where they are on a tile
// processor, too.
//
// Throws Error(program) when a wait_flag can never pass; the message names it.
std::vector<std::uint32_t> pipe_order(const Plan& plan, std::size_t lane);

}  // namespace peal::plan
