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

// How many phases an open recipe has.
using PhaseCount = ExprPtr (*)(const Site& at);
ExprPtr one_phase(const Site& at);

// Cells that the signal must have at least.
using SignalSize = ExprPtr (*)();
ExprPtr cell_per_rank();
ExprPtr cell_per_lane();  // of each rank: see Site::of_lane()

struct Entry {
    Recipe row;
    void (*lower)(const Site& at);
    TargetSize target_size = nullptr;  // null: no target
    TargetUse use = TargetUse::any;
    SignalSize signal_size = cell_per_rank;
    // Of a recipe that knows hosts: bytes that all ranks of a host put to others, for H hosts of L
    // ranks each.
    std::string_view between_hosts = {};
    PhaseCount phases = one_phase;

    // Elements that the target must have at least: of one set, or of several in whole lines each.
    ExprPtr least_target(const Site& at, std::int64_t sets) const;
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
// Those that ask which host each rank is on; recipes() and entries() leave them out.
const std::vector<Entry>& entries_of_hosts(CollectiveKind kind);

// The recipe of that name; for `auto` one of those that it chooses from, which all use the target
// in the same way.
const Entry& entry(CollectiveKind kind, std::string_view recipe);

// The collective that a composite op is, and back.
CollectiveKind kind_of(const ir::Call& composite);
std::string_view op_of(CollectiveKind kind);

// Writes the primitive form of a composite call: requirements on its sizes, then its
// recipe; recipe=auto becomes a choice over sizes that are not known yet.
//
// With several sets, calls of an open recipe take turns with as many parts of the target, so that
// any number of them may follow each other. Where every rank hears from every other in a call, a
// rank in call t has heard in call t-1 from ranks that had returned from call t-2: two sets are
// enough, and nothing else is needed. Elsewhere each rank tells all others at its end that it has
// what it needs, and begins call t when all have said so of the call that had this set before. That
// goes for any roots.
void lower_composite(const ir::Call& composite, LoweringBuilder& builder);

}  // namespace peal::collectives
