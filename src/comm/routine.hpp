// SPDX-License-Identifier: Apache-2.0
// A call made ready: the plan of this rank for one shape, and the memory it wants.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/profile.hpp"
#include "comm/shape.hpp"
#include "comm/turns.hpp"
#include "engine/tape.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/plan.hpp"

namespace peal::comm {

// The bytes of a line that hold a payload; the stamp and the signal cell follow.
inline constexpr std::uint64_t kLinePayload = kCacheLineBytes - 16;

// Where a routine's data window is.
enum class Staging : std::uint8_t {
    none,    // there is none
    line,    // in the lines of the turn's slot, beside the signal cells
    box,     // in the slot's box: a little more, always the same memory, so it stays near
    ring,    // in the ring of staged data
    bulk,    // in the staging window for large messages
    window,  // a window of the user's
    reach,   // the ranks' private buffers (src/comm/peer_memory.hpp)
};

struct Routine {
    Shape shape;
    // What the plan does. Its placement is not the shape's where private data is reached, and where
    // data on a window is staged.
    Collective collective;
    Staging staging = Staging::none;
    std::uint64_t ring_bytes = 0;   // staging=ring: of the ring, per rank
    bool fills_ring = false;        // staging=ring: something is written into this rank's part
    std::uint64_t bulk_bytes = 0;   // staging=bulk: of the staging window, per rank
    std::uint64_t block_bytes = 0;  // staging=box: what each rank has of the window; else 0
    SyncPattern sync = SyncPattern::all_from_all;
    std::uint64_t input_count = 0, output_count = 0;
    bool needs_input = true, needs_output = true;  // on this rank
    std::uint64_t tile_bytes = 0;                  // of all lanes
    Plan plan;
    engine::Tape tape;

    // Two arguments, data, signal and tiles.
    static constexpr std::size_t kMostBuffers = 5;
    // The plan's buffers by their part; -1: there is none.
    struct alignas(8) Wiring {
        std::array<std::int8_t, 2> arguments = {-1, -1};
        std::int8_t data = -1;
        std::int8_t signal = -1;
        std::int8_t tiles = 0;
        std::array<std::int8_t, 3> nothing = {};  // so that all of it is compared at once

        bool operator==(const Wiring& other) const {
            return std::bit_cast<std::uint64_t>(*this) == std::bit_cast<std::uint64_t>(other);
        }
    } wiring;
};

// What the call moves, in the collective's own terms: its count, or of counts what this rank gets.
std::uint64_t message_bytes(const Routine& routine);

struct RoutineLimits {
    std::uint64_t box_bytes = 0;
    std::uint64_t ring_bytes = 0;  // the largest piece of the ring
    std::uint64_t bulk_bytes = 0;
    bool reach = true;  // whether ranks can copy from and to each other's private memory
};

// Chooses the recipe, compiles the plan of `rank`. `hosts` says which host each rank is on, as in
// Collective; empty: all are on one. Throws Error(usage) when the shape cannot be.
std::unique_ptr<Routine> make_routine(const Shape& shape, const Table& table, int rank, int nranks,
                                      const RoutineLimits& limits,
                                      const std::vector<std::int64_t>& hosts = {});

using RoutinePtr = std::shared_ptr<const Routine>;

// Routines by shape. Its reason is that making a routine takes a compiler some hundred
// microseconds, and a program has few shapes. (In front of it Group remembers calls by their
// buffers.) What was handed out stays alive with its user.
class Routines {
public:
    Routines(std::shared_ptr<const Table> table, int rank, int nranks, RoutineLimits limits,
             std::vector<std::int64_t> hosts = {})
        : table_(std::move(table)),
          rank_(rank),
          nranks_(nranks),
          limits_(limits),
          hosts_(std::move(hosts)) {}

    // The reference is good until the next find().
    const RoutinePtr& find(const Shape& shape) {
        const RoutinePtr& found = slot_of(shape);
        if (found != nullptr) [[likely]]
            return found;
        return make(shape);
    }

    // Those of the same table that do not reach.
    Routines& without_reach() {
        if (without_reach_ == nullptr) {
            RoutineLimits limits = limits_;
            limits.reach = false;
            without_reach_ = std::make_unique<Routines>(table_, rank_, nranks_, limits, hosts_);
        }
        return *without_reach_;
    }

private:
    static constexpr std::size_t kFirstSlots = 64;
    static constexpr std::size_t kMost = 4096;  // then all are forgotten

    static std::uint64_t hash(const Shape& shape);
    // Where the routine is, or would be: at the place that its hash names, or behind it.
    RoutinePtr& slot_of(const Shape& shape) {
        for (std::uint64_t at = hash(shape);; ++at) {
            RoutinePtr& slot = slots_[at & (slots_.size() - 1)];
            if (slot == nullptr || slot->shape == shape) return slot;
        }
    }
    const RoutinePtr& make(const Shape& shape);
    void grow();
    void forget();

    std::shared_ptr<const Table> table_;
    int rank_, nranks_;
    RoutineLimits limits_;
    std::vector<std::int64_t> hosts_;
    std::unique_ptr<Routines> without_reach_;
    std::size_t count_ = 0;
    std::vector<RoutinePtr> slots_ = std::vector<RoutinePtr>(kFirstSlots);  // at most half are used
};

inline std::uint64_t Routines::hash(const Shape& shape) {
    const std::uint64_t fixed = static_cast<std::uint64_t>(shape.kind) |
                                static_cast<std::uint64_t>(shape.element) << 5 |
                                static_cast<std::uint64_t>(shape.op) << 9 |
                                static_cast<std::uint64_t>(shape.placement) << 11 |
                                static_cast<std::uint64_t>(shape.root) << 13;
    const std::uint64_t mixed = (fixed ^ shape.count << 22) * 0x9e3779b97f4a7c15;
    return mixed ^ mixed >> 32;
}

}  // namespace peal::comm
