// SPDX-License-Identifier: Apache-2.0
// The model as the exploration sees it: only signal ops are steps. The data ops between two signal
// ops of an agent form a segment and go with the signal op before them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/condition.hpp"
#include "check/meter.hpp"
#include "check/model.hpp"
#include "check/use.hpp"

namespace peal::checker {

// A position of an agent: how many of its signal ops it has carried out.
using Position = std::uint32_t;
inline constexpr Position kForever = std::numeric_limits<Position>::max();

struct PositionRange {
    Position begin = 0, end = 0;
};

struct PositionOf {
    AgentId agent = 0;
    Position position = 0;
};

struct SignalOp {
    std::uint32_t op = 0;  // in Agent::ops
    bool is_wait = false;
    bool is_flag = false;
    CellId cell = kNone;
    NotifyOp notify = NotifyOp::set;
    std::int64_t value = 0;
    std::int64_t value_after = 0;  // of a cell with one writer
    bool may_overflow = false;     // in some order of the notifies of its cell
    Condition condition;

    // The value of a cell with one writer follows from that writer's position and is not part of
    // the state: the wait can pass while the writer's position is in one of `passes`.
    AgentId writer = kNone;
    std::vector<PositionRange> passes;
    // Other cells that are waited on have a slot in the state.
    std::uint32_t slot = kNone;
    bool stays_true = false;  // of a slot: once the wait can pass, it can until it does

    // Waits that may be stale: the first notify of each writer in this call or later.
    bool may_be_stale = false;
    std::vector<PositionOf> fresh;

    // set_flag: the wait that must have taken the previous one.
    PositionOf taken_by{kNone, 0};
    std::uint32_t previous_set = 0;  // op of the agent
};

struct Touch {
    RegionId region = kNone;
    std::uint64_t begin = 0, end = 0;
    Use use;
    Event event;
};

inline bool conflicts(const Touch& a, const Touch& b) {
    return a.region == b.region && conflict(a.use, b.use) && a.begin < b.end && b.begin < a.end;
}

struct TouchedRegion {
    RegionId region = kNone;
    bool is_changed = false;
};

// What a segment does to bytes that nothing else of it touches otherwise.
struct Covered {
    RegionId region = kNone;
    std::uint64_t begin = 0, end = 0;
    Uses uses;
};

struct Segment {
    AgentId agent = 0;
    std::uint32_t first_op = 0, last_op = 0;  // [first_op, last_op) are all data
    std::vector<Touch> touches;
    std::vector<TouchedRegion> regions;  // each once
    std::vector<Covered> covered;        // by region and place, none overlaps another
    bool has_contents = false;           // touches bytes that have contents
};

struct Track {
    std::vector<SignalOp> ops;
    // By position, up to ops.size().
    std::vector<std::uint32_t> segment;   // entered there; kNone: it touches nothing
    std::vector<PositionRange> data_ops;  // the same as op numbers, empty segments included
    std::vector<Position> window;         // where the last run of waits before it begins
    std::vector<bool> quiet;              // nothing was touched, no flag taken, in that window
};

// The ops of one agent on a cell, by position.
struct Toucher {
    AgentId agent = 0;
    std::vector<Position> ops;
};

struct Slot {
    CellId cell = kNone;
    std::int64_t least = 0, most = 0;  // bounds of its value
};

class SignalProgram {
public:
    SignalProgram(const Model& model, Meter& meter);

    const std::vector<Track>& tracks() const { return tracks_; }
    const std::vector<Segment>& segments() const { return segments_; }
    const std::vector<Slot>& slots() const { return slots_; }
    const std::vector<Toucher>& touchers(CellId cell) const { return touchers_[cell]; }
    // Whether two segments of different agents conflict. Worked out when it is first asked.
    bool conflict(std::uint32_t a, std::uint32_t b) const;
    // Touches of two segments that conflict; there must be some.
    std::pair<Touch, Touch> clash(std::uint32_t a, std::uint32_t b) const;
    std::uint64_t memory_bytes() const;

private:
    void split(const Model& model, Meter& meter);
    void add_segment(const Model& model, AgentId agent, std::uint32_t begin, std::uint32_t end,
                     Meter& meter);
    void find_windows();
    void find_cells();
    void place_slots(const Model& model);
    void follow_values(const Model& model);
    void link_waits(const Model& model);
    bool others_only_raise(AgentId waiter, CellId cell) const;
    void link_fresh(const Model& model, std::uint32_t call, SignalOp& wait) const;
    void link_passes(AgentId agent, SignalOp& wait) const;
    void link_flags(const Model& model);

    std::vector<Track> tracks_;
    std::vector<Segment> segments_;
    std::vector<Slot> slots_;
    // By cell: its notifies, its waits, and both.
    std::vector<std::vector<Toucher>> written_, awaited_, touchers_;
    mutable std::unordered_map<std::uint64_t, bool> conflicts_;  // by two segments
};

// Whether a wait on a one-writer cell can pass when the writer has come to `position`.
inline bool passes_at(const SignalOp& wait, Position position) {
    for (const PositionRange& range : wait.passes) {
        if (position >= range.begin && position < range.end) return true;
    }
    return false;
}
inline bool passes_for_good(const SignalOp& wait, Position position) {
    return !wait.passes.empty() && wait.passes.back().end == kForever &&
           position >= wait.passes.back().begin;
}

}  // namespace peal::checker
