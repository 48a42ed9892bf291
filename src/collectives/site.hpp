// SPDX-License-Identifier: Apache-2.0
// Where a collective is written down: the operands of one composite call, and the few phrases that
// recipes are made of.
//
// Signals. Rank w tells rank p of its progress in one cell, signal[w] at p, by setting it to
// generation + phase. A recipe numbers its phases 1, 2, ... so that what w tells p only grows,
// waits for "at least", and at the end advances the generation past its last phase. So each cell
// has one writer (and a cache line, see plan.hpp), nothing is ever reset, and the next call on the
// same signals starts where this one ended. Where lane l of a rank meets lane l of the others, it
// does so in cells of its own, signal[l * nranks + w]: rank w is still their only writer, and those
// of lane 0 are the cells of recipes without lanes.
//
// Contract. When a closed recipe (Reuse::at_once) is done on a rank, no peer reads or writes that
// rank's target any more, and none will until that rank enters the next collective. So the target
// may be written at once, and any collective may follow any other on the same windows.
// An open recipe (Reuse::later) has one phase, or says how many, and returns as soon as the rank
// has its result: peers may still read its target, or not yet have read what it put into theirs.
// Target and signals are used again only once all ranks have returned from the call; or the target
// has several sets, which calls take in turn (lower_composite).
#pragma once

#include <cstdint>
#include <functional>

#include "peal/builder.hpp"
#include "peal/collective_kind.hpp"

namespace peal::collectives {

using ir::ExprPtr;
using ir::LoweringBuilder;

// Elements [offset, offset + count).
struct Part {
    ExprPtr offset;
    ExprPtr count;
};

// Elements [part.offset + offset, ...) of as many.
Part shifted(const Part& part, const ExprPtr& offset);

// The smaller of two.
ExprPtr Min(const ExprPtr& a, const ExprPtr& b);

// The i-th of `parts` parts of a vector of `total` elements; sizes differ by one at most.
Part part(const ExprPtr& total, const ExprPtr& parts, const ExprPtr& i);

// The i-th block of `count` elements.
Part block(const ExprPtr& count, const ExprPtr& i);

// Number of elements of a buffer.
ExprPtr size_of(const ExprPtr& memory);

// a / b, rounded up.
ExprPtr ceil_div(const ExprPtr& a, const ExprPtr& b);

// The operands of one composite call.
struct Operands {
    Operands() = default;
    explicit Operands(const ir::Call& call);

    ExprPtr target, signal;
    ExprPtr input, output;         // null: the data is, or is wanted, in the target itself
    ExprPtr root;                  // collectives with a root
    ExprPtr counts;                // where a table says how much
    ExprPtr sent_at, received_at;  // where a table says where pieces are; null: packed
    ExprPtr hosts;                 // the host of each rank; null: the recipe does not ask
    ExprPtr set;                   // of an open recipe: where the part of the target begins that
                                   // is this call's; null: 0
    ReduceOp op = ReduceOp::sum;
    Element element = Element::f32;
    ExprPtr count;  // elements per rank, as in peal/collective.hpp; null for barrier, or a table

    bool tells_end = false;  // of an open recipe: all are told when this rank has what it needs

    // In place: input and output are one private memory, and the smaller of them is block `rank` of
    // the larger.
    bool in_place = false;
    ExprPtr input_offset, output_offset;  // of what this rank gives and gets; null: 0
    ExprPtr first_cell;                   // of the signal; null: 0

    bool on_window() const { return !input && !output; }
    std::int64_t line() const;  // elements per cache line
};

class Site : public Operands {
public:
    Site(const Operands& operands, LoweringBuilder& builder) : Operands(operands), b(builder) {}

    LoweringBuilder& b;

    // The same site inside a loop or a condition.
    Site in(LoweringBuilder& inner) const { return {*this, inner}; }

    // The same site for the lane at hand, with its cells.
    Site of_lane() const;

    // In place, where this rank's part of the larger memory is.
    void find_own_block(const CollectiveFacts& facts);

    // All elements of the target: `count` per rank, or once.
    Part whole() const { return {ir::integer(0), count}; }
    Part blocks() const;
    // Of what has a part for each rank: that of rank r, `count` elements or what the table says,
    // and the largest. The own part where it stands alone.
    Part block_of(const ExprPtr& r) const;
    Part own_block() const { return {ir::integer(0), count_of(ir::rank())}; }
    ExprPtr count_of(const ExprPtr& r) const;
    ExprPtr largest() const;

    // Rank r's part of a vector that starts with a cache line: whole lines, so that two ranks never
    // write the same one, or single elements when there are fewer lines than ranks.
    Part part_of(const ExprPtr& total, const ExprPtr& r) const;
    ExprPtr longest_part(const ExprPtr& total) const;
    // The i-th of `parts` such parts.
    Part lines_of(const ExprPtr& total, const ExprPtr& parts, const ExprPtr& i) const;
    // In the same way the part of the lane at hand.
    Part part_of_lane(const ExprPtr& total) const;

    // ---- data

    // Where an element of this call's part of the target is.
    ExprPtr in_set(const ExprPtr& offset) const { return set ? set + offset : offset; }
    // input[part] to target[at]; nothing when the data is in the target already.
    void stage(const Part& from, const ExprPtr& at) const;
    // target[part] to output[at]; nothing when the result is wanted in the target.
    void unstage(const Part& from, const ExprPtr& at) const;
    // A tile to where the result is wanted: output[output_at], or target[target_at].
    void deliver(const ExprPtr& tile, const ExprPtr& output_at, const ExprPtr& target_at) const;
    // What this rank gives: [from) of its private input.
    ExprPtr take(const Part& from) const;
    // What this rank gets: a tile for its private output.
    void give(const ExprPtr& tile, const ExprPtr& at) const;
    // What it gives itself. In place it is there already.
    void keep(const Part& from, const ExprPtr& at) const;
    // The input, or the target when there is none.
    ExprPtr load_input(const Part& from, const ExprPtr& target_at) const;
    ExprPtr load(const Part& from, const ExprPtr& peer) const;  // peer's target
    ExprPtr load_own(const Part& from) const;                   // own target
    // target[part] of rank 0, 1, ... combined in rank order: every rank that does it gets the same
    // bits. The own part is read locally.
    ExprPtr combine_in_rank_order(const Part& from) const;
    // The same of what each rank gave: own[part] of the input, and for each peer the tile that
    // `theirs` loads.
    using PeerTile = std::function<ExprPtr(const Site& here, const ExprPtr& peer)>;
    ExprPtr combine_with_peers(const Part& own, const PeerTile& theirs) const;
    // `first`, then the terms of ranks 1 to end-1, in rank order.
    ExprPtr combine_ranks(const ExprPtr& end, const ExprPtr& first, const PeerTile& term) const;
    // That, to output[at].
    void give_combined(const Part& own, const ExprPtr& at, const PeerTile& theirs) const;
    // own target[part] = peer's target[part] op own target[part]
    void combine_from(const ExprPtr& peer, const Part& part) const;

    // ---- signals

    void notify(const ExprPtr& peer, const ExprPtr& phase) const;
    void wait(const ExprPtr& peer, const ExprPtr& phase) const;
    void notify_peers(const ExprPtr& phase) const;
    void wait_peers(const ExprPtr& phase) const;
    // Nobody passes before everybody has come.
    void meet(const ExprPtr& phase) const;
    void notify_peers(std::int64_t phase) const { notify_peers(ir::integer(phase)); }
    void wait_peers(std::int64_t phase) const { wait_peers(ir::integer(phase)); }
    void meet(std::int64_t phase) const { meet(ir::integer(phase)); }
    // The end of a recipe. Where all are told of it, an open one has another phase.
    void advance(const ExprPtr& phases) const;
    using PeerBody = std::function<void(const Site& here, const ExprPtr& peer)>;
    void for_each_peer(const PeerBody& body) const;
    // The right neighbour first, so that the ranks spread over their peers.
    void for_each_peer_from_right(const PeerBody& body) const;
    void if_root(const std::function<void(const Site&)>& at_root,
                 const std::function<void(const Site&)>& elsewhere) const;

private:
    // Where rank r tells of its progress.
    ExprPtr cell_of(const ExprPtr& r) const { return first_cell ? first_cell + r : r; }
};

// Emits what must hold of the operands' sizes for the collective to make sense; checked when a plan
// is made. `window` is how many elements the target must have at least to stage what is private,
// `cells` how many the signal must have.
void require_sizes(CollectiveKind kind, const Site& at, const ExprPtr& window,
                   const ExprPtr& cells);

}  // namespace peal::collectives
