// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "peal/plan.hpp"

namespace peal::plan {

// Which ranks are on another host than the one that asks, by rank. Empty: none is.
using Far = std::vector<bool>;
// `hosts` has the host of each rank, by numbers that mean nothing but "the same"; empty: all are on
// one.
Far far_from(int rank, const std::vector<std::int64_t>& hosts);

// The plan as it runs where some ranks are on other hosts: what it writes there in its turn is
// deferred work of a group of its own, and a fence of that group comes before whatever relies on it
//
//   a notify, since whoever hears it, or hears of it from another, may count on what was written;
//   work that touches what is being written;
//   work that changes what is being read for it;
//
// and nowhere else: the end of a lane completes it anyway. Work that the plan defers itself, and
// its fences, stay as they are. The plan has no pipes and no cache, which is what for_host() leaves
// of any, and is valid before and after.
//
// It is proved if and only if the plan was, and then it is right on a network, which does no more
// than its deferred work may (docs/proof.md, "Between hosts").
Plan between_hosts(Plan plan, const Far& far);
// Of all ranks.
std::vector<Plan> between_hosts(std::vector<Plan> plans, const std::vector<std::int64_t>& hosts);

}  // namespace peal::plan
