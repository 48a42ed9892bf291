// SPDX-License-Identifier: Apache-2.0
// A plan decoded for the interpreter: fixed-size operations, instruction by instruction, so that a
// position on the tape is a position in the plan.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/kernels/kernels.hpp"
#include "peal/plan.hpp"
#include "plan/between_hosts.hpp"

namespace peal::engine {

enum class Opcode : std::uint8_t {
    copy,
    fetch,  // a copy from a peer's private memory
    put,    // a copy to it
    reduce,
    accumulate,
    map,
    convert,
    row_sum,
    clobber,
    notify_set,       // in time for who waits for a cell to grow
    notify_exchange,  // the same, in one order with all notifies and waits of all ranks
    notify_add,
    wait,
    set_flag,
    wait_flag,
    nothing,
    far,         // work on data (Op::work) where some is in a window on another host, or may be in
                 // use by what goes there
    far_fence,   // of deferred work that goes there
    far_notify,  // of a cell there
};

inline bool is_notify(Opcode code) {
    return code == Opcode::notify_set || code == Opcode::notify_exchange ||
           code == Opcode::notify_add;
}

// Where an operand is: memory[buffer].base + rank * memory[buffer].rank_stride + offset. Tile
// memory is the entry after the plan's buffers, and its "rank" is the lane. What moves from turn to
// turn is behind that: each shift of the plan has an entry of its own.
struct Address {
    std::uint16_t buffer = 0;
    bool is_far = false;  // of a rank on another host: here is its mirror
    std::int32_t rank = 0;
    std::uint64_t offset = 0;
};

struct Op {
    Opcode code = Opcode::copy;
    Opcode work = Opcode::copy;      // of `far` and `far_notify`: what it is
    Element element = Element::f32;  // of the data, or of the cell
    Element from = Element::f32;     // convert: of the source
    ReduceOp reduce = ReduceOp::sum;
    MapOp map = MapOp::fill;
    Compare compare = Compare::ge;
    kernels::Stores stores = kernels::Stores::cached;
    // A wait for a cell of 64 bits to reach a value, or a notify_set of one: nearly all are.
    bool is_plain = false;
    Address dst;  // also the cell
    Address src;  // of what has one source
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;  // elements
    double scalar = 0;
    Value value;                     // notify and wait
    std::uint32_t first_source = 0;  // reduce: in Tape::sources
    std::uint32_t source_count = 0;
    kernels::Fold fold = nullptr;  // reduce: if there is one
    SetFlag flag;                  // also what a wait_flag waits for
    std::uint16_t group = 0;       // far, far_fence: of deferred work
};

struct Tape {
    Tape() = default;
    explicit Tape(const Plan& plan) { read(plan); }

    // What the plan's data windows are bound to: memory that all ranks share, or private memory of
    // theirs, which is copied by the engine (Supplier::fetch and put).
    enum class Windows : std::uint8_t { shared, reached };

    // What is known of the cells: that they grow and that all waits are >=, as in the built-in
    // recipes, or nothing. A wait for a cell to grow loses nothing by seeing it late. Any other
    // wait may pass on a value that is gone already, which no order of the ranks' steps explains
    // (docs/proof.md, "One order of cells"); so then notifies and waits are sequentially
    // consistent.
    enum class Cells : std::uint8_t { any, grow };

    // Decodes a valid plan, which must outlive the tape. To be `reached`, it must be reachable().
    // Of ranks that are far memory has but mirrors of their windows (Supplier::put_far and its
    // like), and the plan has been made for that (plan/between_hosts.hpp). Throws Error(usage) when
    // it does what cannot be done on another host.
    void read(const Plan& plan, Windows windows = Windows::shared, Cells cells = Cells::any,
              const plan::Far& far = {});

    const Plan* plan = nullptr;
    bool has_lanes = false;
    std::vector<Op> ops;
    std::vector<Address> sources;
};

// Of tile memory, from one lane's to the next, and of all lanes together.
inline std::uint64_t tile_stride(const Plan& plan) { return whole_lines(plan.tile_bytes); }
inline std::uint64_t tile_room(const Plan& plan) {
    return plan.lanes.empty() ? plan.tile_bytes : tile_stride(plan) * plan.lane_count();
}

// Whether the plan does nothing with its peers' windows but copy from and to them, and from the
// same places in every call.
bool reachable(const Plan& plan);

}  // namespace peal::engine
