// SPDX-License-Identifier: Apache-2.0
// All recipes, by collective and mode.
#pragma once

#include <vector>

#include "collectives/site.hpp"
#include "peal/collective.hpp"

namespace peal::collectives {

struct Entry {
    Recipe row;
    void (*lower)(const Site& at);
};

// One function per file of recipes.
std::vector<Entry> allreduce_recipes();
std::vector<Entry> reduce_scatter_recipes();
std::vector<Entry> allgather_recipes();
std::vector<Entry> broadcast_recipes();
std::vector<Entry> all_to_all_recipes();
std::vector<Entry> all_to_all_v_recipes();
std::vector<Entry> reduce_recipes();
std::vector<Entry> gather_recipes();
std::vector<Entry> scatter_recipes();
std::vector<Entry> barrier_recipes();

const std::vector<Entry>& entries(CollectiveKind kind);

// The collective that a composite op is, and back.
CollectiveKind kind_of(const ir::Call& composite);
std::string_view op_of(CollectiveKind kind);

// Writes the primitive form of a composite call: requirements on its sizes, then the recipe of its
// mode; mode=auto becomes a choice over sizes that are not known yet.
void lower_composite(const ir::Call& composite, LoweringBuilder& builder);

}  // namespace peal::collectives
