// SPDX-License-Identifier: Apache-2.0
// Which collectives there are, and the facts of each: who gives and gets how much. Everybody who
// needs one of them asks here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace peal {

enum class CollectiveKind : std::uint8_t {
    allreduce,
    reduce_scatter,
    allgather,
    broadcast,
    all_to_all,
    all_to_all_v,
    allgather_v,
    reduce_scatter_v,
    reduce,
    gather,
    scatter,
    scan,
    exscan,
    barrier,
};
inline constexpr std::array kCollectives = {
    CollectiveKind::allreduce,   CollectiveKind::reduce_scatter,   CollectiveKind::allgather,
    CollectiveKind::broadcast,   CollectiveKind::all_to_all,       CollectiveKind::all_to_all_v,
    CollectiveKind::allgather_v, CollectiveKind::reduce_scatter_v, CollectiveKind::reduce,
    CollectiveKind::gather,      CollectiveKind::scatter,          CollectiveKind::scan,
    CollectiveKind::exscan,      CollectiveKind::barrier};

std::string_view name(CollectiveKind kind);
std::optional<CollectiveKind> collective_from(std::string_view name);

// What a rank's input or output holds.
enum class Share : std::uint8_t {
    nothing,
    block,    // `count` elements
    blocks,   // that for each rank, in rank order
    counted,  // for each rank what a table of pairs says, packed in rank order
    piece,    // what a table says for this rank
    pieces,   // that of each rank, packed in rank order
};
enum class Holders : std::uint8_t {
    nobody,
    root,
    all_but_first,  // all but rank 0
    everybody,
};

struct CollectiveFacts {
    Share input = Share::nothing;
    Holders givers = Holders::nobody;  // whose input is read
    Share output = Share::nothing;
    Holders getters = Holders::nobody;  // whose output is written
    bool reduces = false;
    bool ascends = false;  // a rank gets of the ranks before it, and hears from no other

    constexpr bool has_root() const { return givers == Holders::root || getters == Holders::root; }
    // Whether every rank hears from every other in a call.
    constexpr bool hears_all() const { return !has_root() && !ascends; }
    constexpr bool has_data() const { return input != Share::nothing; }
    // Whether a table says how much: for each pair of ranks, or for each rank.
    constexpr bool is_counted() const { return counts_pairs() || counts_ranks(); }
    constexpr bool counts_pairs() const { return input == Share::counted; }
    constexpr bool counts_ranks() const { return input == Share::piece || output == Share::piece; }
    // A memory that holds input and output has a block for each rank.
    constexpr bool has_blocks() const { return input == Share::blocks || output == Share::blocks; }
    // The smaller of the two is block `rank` of the larger when one memory holds both.
    constexpr bool input_is_larger() const {
        return (input == Share::blocks && output == Share::block) ||
               (input == Share::pieces && output == Share::piece);
    }
    constexpr bool output_is_larger() const {
        return (input == Share::block && output == Share::blocks) ||
               (input == Share::piece && output == Share::pieces);
    }
    constexpr bool gives(int rank, int root) const { return is_among(givers, rank, root); }
    constexpr bool gets(int rank, int root) const { return is_among(getters, rank, root); }

    bool operator==(const CollectiveFacts&) const = default;

private:
    static constexpr bool is_among(Holders holders, int rank, int root) {
        return holders == Holders::everybody || (holders == Holders::root && rank == root) ||
               (holders == Holders::all_but_first && rank > 0);
    }
};

constexpr CollectiveFacts facts_of(CollectiveKind kind) {
    using enum Share;
    using enum Holders;
    switch (kind) {
        case CollectiveKind::allreduce: return {block, everybody, block, everybody, true};
        case CollectiveKind::reduce_scatter: return {blocks, everybody, block, everybody, true};
        case CollectiveKind::allgather: return {block, everybody, blocks, everybody};
        case CollectiveKind::broadcast: return {block, root, block, everybody};
        case CollectiveKind::all_to_all: return {blocks, everybody, blocks, everybody};
        case CollectiveKind::all_to_all_v: return {counted, everybody, counted, everybody};
        case CollectiveKind::allgather_v: return {piece, everybody, pieces, everybody};
        case CollectiveKind::reduce_scatter_v: return {pieces, everybody, piece, everybody, true};
        case CollectiveKind::reduce: return {block, everybody, block, root, true};
        case CollectiveKind::gather: return {block, everybody, blocks, root};
        case CollectiveKind::scatter: return {blocks, root, block, everybody};
        case CollectiveKind::scan: return {block, everybody, block, everybody, true, true};
        case CollectiveKind::exscan: return {block, everybody, block, all_but_first, true, true};
        case CollectiveKind::barrier: break;
    }
    return {};
}

constexpr bool has_reduction(CollectiveKind kind) { return facts_of(kind).reduces; }
constexpr bool has_root(CollectiveKind kind) { return facts_of(kind).has_root(); }

}  // namespace peal
