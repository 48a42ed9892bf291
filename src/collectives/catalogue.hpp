// SPDX-License-Identifier: Apache-2.0
// All recipes, by collective and name.
#pragma once

#include <vector>

#include "collectives/site.hpp"
#include "peal/collective.hpp"

namespace peal::collectives {

// What a recipe can do with its target.
enum class TargetUse : std::uint8_t {
    any,              // it holds the data itself, or stages what is private
    stages,           // it stages what is private
    stages_in_boxes,  // the same in a box for each sender, in whole lines (see inbox()); what fits
                      // may ride in the line of that sender's signal
    stages_in_ring,   // the same in chunks; the larger the target the larger the chunks
};

// Elements that the target must have at least to stage what is private. The site has sizes only.
using TargetSize = ExprPtr (*)(const Site& at);
ExprPtr one_block(const Site& at);       // count, or the largest of the counts
ExprPtr block_per_rank(const Site& at);  // nranks * count, or the sum of the counts
ExprPtr inbox(const Site& at);           // a box of one_block() per rank
ExprPtr ring_of_blocks(const Site& at);  // slots for one block
ExprPtr ring_of_block_per_rank(const Site& at);

struct Entry {
    Recipe row;
    void (*lower)(const Site& at);
    TargetSize target_size = nullptr;  // null: no target
    TargetUse use = TargetUse::any;
};

// One function per file of recipes.
namespace allreduce {
std::vector<Entry> recipes();
}
namespace reduce_scatter {
std::vector<Entry> recipes();
}
namespace allgather {
std::vector<Entry> recipes();
}
namespace broadcast {
std::vector<Entry> recipes();
}
namespace all_to_all {
std::vector<Entry> recipes();
}
namespace all_to_all_v {
std::vector<Entry> recipes();
}
namespace allgather_v {
std::vector<Entry> recipes();
}
namespace reduce_scatter_v {
std::vector<Entry> recipes();
}
namespace reduce {
std::vector<Entry> recipes();
}
namespace gather {
std::vector<Entry> recipes();
}
namespace scatter {
std::vector<Entry> recipes();
}
namespace scan {
std::vector<Entry> recipes();
}
namespace exscan {
std::vector<Entry> recipes();
}
namespace barrier {
std::vector<Entry> recipes();
}

const std::vector<Entry>& entries(CollectiveKind kind);

// The recipe of that name; for `auto` one of those that it chooses from, which all use the target
// in the same way.
const Entry& entry(CollectiveKind kind, std::string_view recipe);

// The collective that a composite op is, and back.
CollectiveKind kind_of(const ir::Call& composite);
std::string_view op_of(CollectiveKind kind);

// Writes the primitive form of a composite call: requirements on its sizes, then its
// recipe; recipe=auto becomes a choice over sizes that are not known yet.
void lower_composite(const ir::Call& composite, LoweringBuilder& builder);

}  // namespace peal::collectives
