// SPDX-License-Identifier: Apache-2.0
// The built-in collectives: which there are, what they mean, and each as a program ready to
// compile. How they work is written in src/collectives/, one file each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "peal/bindings.hpp"
#include "peal/collective_kind.hpp"
#include "peal/element.hpp"
#include "peal/ir.hpp"

namespace peal {

// When the windows of a call may be used again (docs/collectives.md).
enum class Reuse : std::uint8_t {
    at_once,  // on return
    later,    // once every rank has returned from the call
};
std::string_view name(Reuse reuse);

// One way to do it, with its row of the table in docs/collectives.md. P is the number of ranks, N
// the bytes of `count` elements; where the root's part differs, it follows.
struct Recipe {
    std::string_view name;     // "mesh", "ring", ...
    std::string_view steps;    // hand-overs on the longest path
    std::string_view bytes;    // read and written per rank, out of place
    std::string_view window;   // bytes of `data`
    std::string_view signals;  // notifies per rank
    std::string_view order;    // of the reduction
    Reuse reuse;
    bool has_lanes = false;  // the lanes of a rank share its work; L is their number
};
const std::vector<Recipe>& recipes(CollectiveKind kind);

// Whether the recipe asks for Collective::hosts.
bool knows_hosts(CollectiveKind kind, std::string_view recipe);

// Of a recipe; all that `auto` stands for are free at once, and have one lane.
Reuse reuse_of(CollectiveKind kind, std::string_view recipe);
bool has_lanes(CollectiveKind kind, std::string_view recipe);

// Where input and result are.
enum class Placement : std::uint8_t {
    separate,     // two private buffers
    in_place,     // one private buffer: the smaller of the two is this rank's block of the larger
    window,       // the data window itself
    into_window,  // a private input; the result in the data window
};
inline constexpr std::array kPlacements = {Placement::separate, Placement::in_place,
                                           Placement::window, Placement::into_window};
// Whether input and result are two memories.
constexpr bool is_apart(Placement placement) {
    return placement == Placement::separate || placement == Placement::into_window;
}
std::string_view name(Placement placement);

// Whether there is such a form of the recipe.
bool offers(CollectiveKind kind, std::string_view recipe, Placement placement);

inline constexpr std::uint64_t kDefaultStageBytes = 1 << 20;
inline constexpr int kDefaultLanes = 2;

// A collective with everything that has to be the same on all ranks.
//
// `count` is per rank: the elements of a block (peal/collective_kind.hpp). Others take a table
// instead: counts[from * nranks + to] for each pair of ranks, or counts[rank].
struct Collective {
    CollectiveKind kind = CollectiveKind::allreduce;
    std::string recipe = "auto";
    Element element = Element::f32;
    ReduceOp op = ReduceOp::sum;
    std::uint64_t count = 0;
    int root = 0;
    std::vector<std::int64_t> counts;  // where a table says how much
    // all_to_all_v: where pieces begin, in input[from * nranks + to] and output[to * nranks +
    // from]. Both are empty where pieces are packed in rank order.
    std::vector<std::int64_t> sent_at, received_at;
    Placement placement = Placement::separate;
    std::uint64_t stage_bytes = 0;  // of a pipeline: bytes of `data`; 0: kDefaultStageBytes
    // The host of each rank, by numbers that mean nothing but "the same": for recipes that know
    // hosts. Others leave it alone.
    std::vector<std::int64_t> hosts;
    // Of a recipe whose window is free later: `data` has as many parts, and calls take them in
    // turn. With one, whoever calls keeps several windows.
    int sets = 1;
    int lanes = 0;  // of a recipe with lanes; 0: kDefaultLanes, and 1 of all others
};

// How many lanes its plans have.
int lanes_of(const Collective& collective);

// How many counts there are; 0 where no table says how much.
std::size_t table_entries(CollectiveKind kind, int nranks);
// Throws Error(usage) when there are not as many, or some are negative.
void validate_counts(CollectiveKind kind, std::span<const std::int64_t> counts, int nranks);

// Throws Error(usage) that names the offending field when the collective cannot be done by
// `nranks`.
void validate(const Collective& collective, int nranks);

// The recipe that `auto` stands for, by size and ranks: what the table of recipes
// (src/collectives/rules.hpp) says for a kernel. A communicator has other memory and other rules.
std::string_view choose_recipe(CollectiveKind kind, std::uint64_t bytes, int nranks);

// A program of one kernel named after the collective, and the bindings that make it this
// collective. Its parameters are (input, output, data, signal), in place (buffer, data, signal), on
// a window (data, signal), into a window (input, data, signal); barrier has (signal); where a table
// says how much, `counts` comes first. A buffer that only the root uses has the same size on the
// other ranks and is not touched there.
ir::Program program_of(const Collective& collective);
Bindings bindings_of(const Collective& collective);

// Elements that rank gives and gets; the sizes of `input` and `output`.
std::uint64_t input_count(const Collective& collective, int rank, int nranks);
std::uint64_t output_count(const Collective& collective, int rank, int nranks);
// In a memory that holds what all ranks give or get: where the part of `rank` begins.
std::uint64_t own_offset(const Collective& collective, int rank);

}  // namespace peal
