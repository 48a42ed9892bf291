// SPDX-License-Identifier: Apache-2.0
// The model: all calls of all ranks as one program of agents, memory regions and cells. It is what
// both methods run. Lanes and pipes are agents like ranks are, and flags, issue order, draining and
// where a call begins and ends are cells like signals are, so neither method knows about any of
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "peal/check.hpp"

namespace peal::checker {

using AgentId = std::uint32_t;
using RegionId = std::uint32_t;
using CellId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffff;

enum class OpKind : std::uint8_t { data, notify, wait };

enum class Origin : std::uint8_t {
    stages,       // the caller writes the inputs
    instruction,  // of the plan
    consumes,     // the caller reads the outputs
    line,         // data: the cache line that the notify behind it touches
    visible,      // data: what the instruction stored comes to be seen by the others
    early,        // data: the cache takes what the instruction will read
    issue,        // order between the caller, the lanes of a rank and the pipes of a lane
};

struct Op {
    OpKind kind = OpKind::data;
    Origin origin = Origin::instruction;
    NotifyOp notify = NotifyOp::set;
    Compare compare = Compare::ge;
    bool is_flag = false;
    // A wait that asks for no more than a wait of an earlier call on the same cell did.
    bool may_be_stale = false;
    std::uint32_t call = 0;
    std::uint32_t index = 0;  // of the instruction
    // Of visible and early: 0, or, through the cache, the region and the number of its line.
    CellId cell = kNone;
    std::int64_t value = 0;
};

// Runs its ops in order. Each lane of a rank has one, and one more for each pipe beside its scalar
// unit. The first one of a rank is also its caller.
struct Agent {
    std::int32_t rank = 0;
    std::uint32_t lane = 0;
    Pipe pipe = Pipe::none;
    std::vector<Op> ops;
    // The issuing unit that it belongs to. An agent apart is no unit of the core, but an engine
    // that carries out deferred work, or the way of bytes to memory.
    AgentId core = kNone;
    bool is_apart = false;
};

struct Event {
    AgentId agent = 0;
    std::uint32_t op = 0;
    bool operator==(const Event&) const = default;
};

enum class RegionKind : std::uint8_t {
    data,   // bytes with contents
    lines,  // the cache lines of packed signal cells; only who touches them matters
    entry,  // touched on entry by its rank and on return by all: a rank that meets the others
    // Views: what a core does to bytes and others need not see, or the other way round.
    unfenced,       // its stores, until they are visible
    cached_writes,  // what is in its cache, until it is in memory
    cached_reads,   // what its cache took from memory, until it was read
};

struct Region {
    RegionKind kind = RegionKind::data;
    std::string name;
    std::int32_t rank = 0;
    std::uint64_t bytes = 0;
    Element element = Element::u8;
    const std::vector<std::uint64_t>* shape = nullptr;  // as declared; null: not known
};

enum class CellRole : std::uint8_t { signal, flag, issue };

struct CellInfo {
    CellRole role = CellRole::signal;
    Element element = Element::i64;
    std::vector<AgentId> writers;  // distinct
    std::vector<AgentId> waiters;  // distinct
    // The only agent that waits on it, if it alone takes back from it (adds less than nothing) and
    // nobody sets it: then what it holds and what was taken back are together a counter that grows.
    AgentId taker = kNone;
    std::uint32_t raisers = 0;  // agents that do anything else to it than that
    bool has_add = false;
    std::int64_t per_generation = 0;  // the factor of the generation in its first wait
    // Bounds of its values, whatever comes first: the extreme `set`, and then every `add` of its
    // sign.
    std::int64_t least = 0, most = 0;
    bool may_overflow = false;  // not all values between them fit its type
};

// A signal's value as a number. Throws Error(usage) when it is too large: sums of values stay far
// from the ends of the integers.
std::int64_t followed_value(const Value& value, std::int64_t generation);

// A storage is memory of one name: one region on each rank, or one run of cells.
struct Storage {
    std::string name;
    BufferKind kind = BufferKind::argument;
    Element element = Element::i32;
    std::vector<std::uint64_t> bytes;                       // by rank
    std::vector<const std::vector<std::uint64_t>*> shapes;  // by rank; null: not known
    std::uint64_t cell_grain = 0;   // signals: distance of neighbouring cells
    RegionId first_region = kNone;  // of rank 0; signals: their lines, if they are packed
    // Signals: which cells are notified or waited for, in order, counted over the ranks; the first
    // of them is `first_cell`. Nothing is kept of the others.
    std::vector<std::uint64_t> used;
    CellId first_cell = kNone;
    std::vector<std::int64_t> generation;  // signals: at the start of each call, and at the end

    std::uint64_t cells_per_rank() const { return cell_grain == 0 ? 0 : bytes[0] / cell_grain; }
    std::uint64_t number_at(const Cell& cell, std::uint64_t stride) const {
        return static_cast<std::uint64_t>(cell.rank) * cells_per_rank() +
               cell.index * stride / cell_grain;
    }
    // The cell of a number, or kNone if nobody uses it; and back.
    CellId cell_of(std::uint64_t number) const {
        const auto at = std::lower_bound(used.begin(), used.end(), number);
        if (at == used.end() || *at != number) return kNone;
        return first_cell + static_cast<CellId>(at - used.begin());
    }
    std::uint64_t number_of(CellId cell) const { return used[cell - first_cell]; }
};

// Beside a region: touched by the core that it belongs to when its bytes come to be seen (or are
// taken), and by everybody else whenever they touch the region. So who is not ordered after (or
// before) that clashes there. Only [begin, end) of it is used.
struct View {
    RegionKind kind = RegionKind::unfenced;
    AgentId core = kNone;
    RegionId region = kNone;
    std::uint64_t begin = 0, end = 0;
};

// Bytes of a window that the caller writes before a call: input, or zeros.
struct Put {
    std::uint16_t buffer = 0;
    std::uint64_t begin = 0, end = 0;
    bool is_input = true;
};

// What a stage says about the caller of one rank.
struct RankMeaning {
    std::vector<Put> puts;  // in order: of bytes that are in several, the last one counts
    std::vector<const Expected*> outputs;
};

struct Model {
    const std::vector<CheckStage>* stages = nullptr;
    int nranks = 0;
    std::uint32_t calls = 0;
    std::vector<Agent> agents;
    std::vector<Region> regions;
    std::vector<CellInfo> cells;
    std::vector<Storage> storages;
    std::vector<std::vector<std::uint32_t>> storage_of;  // by stage and buffer
    std::vector<std::vector<RankMeaning>> meaning_of;    // by stage and rank
    std::vector<std::vector<RegionId>> tiles;            // by rank and lane
    std::vector<RegionId> first_entry;                   // of rank 0, by call; kNone: none

    std::vector<std::vector<View>> views;  // by region, as far as any has some

    // Of stages whose plans take turns: what they are in each call, by call and rank, until all
    // turns come again, after `turn_rounds` rounds. The others are as the stages have them.
    std::vector<std::vector<Plan>> turned;
    std::uint32_t turn_rounds = 1;

    std::uint32_t stage_of(std::uint32_t call) const { return call % stages->size(); }
    const CheckStage& stage(std::uint32_t call) const { return (*stages)[stage_of(call)]; }
    const Plan& plan(std::uint32_t call, std::int32_t rank) const {
        if (!turned.empty()) [[unlikely]]
            return turned[call % turned.size()][static_cast<std::size_t>(rank)];
        return (*stage(call).plans)[static_cast<std::size_t>(rank)];
    }
    const RankMeaning& meaning(std::uint32_t call, std::int32_t rank) const {
        return meaning_of[stage_of(call)][static_cast<std::size_t>(rank)];
    }
    const Op& op(Event event) const { return agents[event.agent].ops[event.op]; }
    bool takes_back(AgentId agent, const Op& op) const {
        return agent == cells[op.cell].taker && op.value < 0;
    }
    const Instruction& instruction(Event event) const {
        const Op& what = op(event);
        return plan(what.call, agents[event.agent].rank).instructions[what.index];
    }
    // Of an argument or window.
    RegionId region(std::uint32_t call, std::uint16_t buffer, std::int32_t rank) const {
        const auto offset = static_cast<RegionId>(rank);
        return storages[storage_of[stage_of(call)][buffer]].first_region + offset;
    }
    // Of anything that the instruction at hand names.
    RegionId region(Event event, const Range& range) const {
        const Agent& agent = agents[event.agent];
        if (range.buffer == kTile) return tiles[static_cast<std::size_t>(agent.rank)][agent.lane];
        return region(op(event).call, range.buffer, range.rank);
    }
    const Storage& storage_of_cell(CellId cell) const;
};

class Meter;

// The window of that name; as many as there are buffers, if there is none.
std::uint16_t window_named(const Plan& plan, std::string_view name);

// The stages are well formed and all their ranges and cells exist. Throws Error(usage) when memory
// of one name is used in two ways.
Model build_model(const std::vector<CheckStage>& stages, int calls, MemoryOrder order,
                  Meter& meter);

// The two halves of that, once stages, ranks and calls are set. First the memory behind the buffers
// of all stages: storages, regions and cells.
void place_memory(Model& model);
// Then the ops of each rank, its plans, call after call, as lists for its agents: adds the agents,
// the cells between them, and views of memory.
void write_rank(Model& model, std::int32_t rank, MemoryOrder order, Meter& meter);

// "data@2[0][0;3]" where a shape is declared, otherwise bytes: "data@2[0..64)"
std::string text_of(const Region& region, std::uint64_t begin, std::uint64_t end);
// "[0][0;3]" or "[0..64)"
std::string range_text(const Region& region, std::uint64_t begin, std::uint64_t end);
// "sig[3]@1"
std::string text_of_cell(const Model& model, CellId cell);

}  // namespace peal::checker
