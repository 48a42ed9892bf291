// SPDX-License-Identifier: Apache-2.0
// Plans written by hand, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "peal/check.hpp"
#include "peal/plan.hpp"

namespace peal::test {

// A value of the current generation: `generation + constant`.
inline Value now(std::int64_t constant) { return {constant, 1}; }
inline Value fixed(std::int64_t constant) { return {constant, 0}; }

// Writes the plan of one rank.
class RankPlan {
public:
    explicit RankPlan(Plan& plan) : plan_(&plan) {}

    Range in(std::uint16_t buffer, std::uint64_t offset, std::uint64_t length) const {
        return {buffer, plan_->rank, offset, length};
    }
    static Range at(std::int32_t rank, std::uint16_t buffer, std::uint64_t offset,
                    std::uint64_t length) {
        return {buffer, rank, offset, length};
    }
    Range tile(std::uint64_t offset, std::uint64_t length) const {
        return {kTile, plan_->rank, offset, length};
    }

    RankPlan& copy(const Range& dst, const Range& src, Pipe pipe = Pipe::none) {
        return add(Copy{dst, src}, pipe);
    }
    RankPlan& reduce(const Range& dst, std::vector<Range> src, ReduceOp op = ReduceOp::sum,
                     Element element = Element::f32, Pipe pipe = Pipe::none) {
        return add(Reduce{op, element, dst, std::move(src)}, pipe);
    }
    RankPlan& accumulate(const Range& dst, const Range& src, Element element = Element::f32,
                         Pipe pipe = Pipe::none) {
        return add(Accumulate{element, dst, src}, pipe);
    }
    RankPlan& fill(const Range& dst, double scalar, Element element = Element::f32) {
        return add(Map{MapOp::fill, element, scalar, dst, {}}, Pipe::none);
    }
    RankPlan& map(MapOp op, const Range& dst, const Range& src, double scalar,
                  Element element = Element::f32) {
        return add(Map{op, element, scalar, dst, src}, Pipe::none);
    }
    RankPlan& convert(const Range& dst, Element to, const Range& src, Element from) {
        return add(Map{MapOp::convert, to, 0, dst, src, from}, Pipe::none);
    }
    RankPlan& row_sum(const Range& dst, const Range& src) {
        return add(Map{MapOp::row_sum, Element::f32, 0, dst, src}, Pipe::none);
    }
    RankPlan& clobber(const Range& dst, Pipe pipe = Pipe::none) {
        return add(Map{MapOp::clobber, Element::u8, 0, dst, {}}, pipe);
    }
    // The last instruction is one operation with the one before it.
    RankPlan& join() {
        plan_->instructions.back().joined = true;
        return *this;
    }
    // The last instruction is from that line.
    RankPlan& from_line(std::uint32_t line) {
        plan_->instructions.back().line = line;
        return *this;
    }
    RankPlan& set(std::uint16_t signal, std::int32_t rank, std::uint64_t cell, Value value,
                  Pipe pipe = Pipe::none) {
        return add(Notify{NotifyOp::set, {signal, rank, cell}, value}, pipe);
    }
    RankPlan& increase(std::uint16_t signal, std::int32_t rank, std::uint64_t cell, Value value,
                       Pipe pipe = Pipe::none) {
        return add(Notify{NotifyOp::add, {signal, rank, cell}, value}, pipe);
    }
    RankPlan& wait(std::uint16_t signal, std::uint64_t cell, Compare compare, Value value,
                   Pipe pipe = Pipe::none) {
        return add(Wait{compare, {signal, plan_->rank, cell}, value}, pipe);
    }
    RankPlan& wait(std::uint16_t signal, std::uint64_t cell, Value value) {
        return wait(signal, cell, Compare::ge, value);
    }
    RankPlan& set_flag(Pipe from, Pipe to, std::uint8_t event = 0) {
        return add(SetFlag{from, to, event}, from);
    }
    RankPlan& wait_flag(Pipe from, Pipe to, std::uint8_t event = 0) {
        return add(WaitFlag{from, to, event}, to);
    }
    RankPlan& fence(std::uint16_t group = 0) { return add(Fence{group}, Pipe::none); }
    RankPlan& evict(const Range& range) { return add(Evict{range}, Pipe::none); }
    // The last instruction is complete by the fence of a group, or goes through the cache.
    RankPlan& deferred(std::uint16_t group) {
        plan_->instructions.back().group = group;
        return *this;
    }
    RankPlan& cached() { return deferred(kCached); }
    RankPlan& drain() { return add(PipeBarrier{Pipe::all}, Pipe::all); }

private:
    RankPlan& add(Action action, Pipe pipe) {
        plan_->instructions.push_back({std::move(action), pipe, 0});
        return *this;
    }

    Plan* plan_;
};

// Lanes keep the rest of their instructions.
inline void erase_instruction(Plan& plan, std::size_t i) {
    plan.instructions.erase(plan.instructions.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::uint32_t& begin : plan.lanes) begin -= begin > i ? 1 : 0;
}

// Gives the plan these lanes: of each, the instructions count.
inline void join_lanes(Plan& plan, const std::vector<Plan>& lanes) {
    plan.instructions.clear();
    plan.lanes.clear();
    for (const Plan& lane : lanes) {
        if (&lane != lanes.data()) {
            plan.lanes.push_back(static_cast<std::uint32_t>(plan.instructions.size()));
        }
        plan.instructions.insert(plan.instructions.end(), lane.instructions.begin(),
                                 lane.instructions.end());
    }
}

// The plans of all ranks, with the same buffers.
class Plans {
public:
    explicit Plans(int nranks, std::string kernel = "test") {
        for (std::int32_t rank = 0; rank < nranks; ++rank) {
            Plan plan;
            plan.kernel = kernel;
            plan.rank = rank;
            plan.nranks = nranks;
            plans_.push_back(std::move(plan));
        }
    }

    std::uint16_t argument(const std::string& name, Direction direction, std::uint64_t bytes,
                           Element element = Element::f32) {
        return add({name, BufferKind::argument, direction, element, bytes, 0, 0}, 0);
    }
    std::uint16_t window(const std::string& name, std::uint64_t bytes,
                         Element element = Element::f32) {
        return add({name, BufferKind::window, Direction::inout, element, bytes, 0, 0}, 0);
    }
    std::uint16_t signal(const std::string& name, std::uint64_t cells, std::int64_t advance,
                         std::uint64_t stride = kCacheLineBytes, Element element = Element::i32) {
        return add({name, BufferKind::signal, Direction::inout, element, 0, cells, stride},
                   advance);
    }
    void tile_bytes(std::uint64_t bytes) {
        for (Plan& plan : plans_) plan.tile_bytes = bytes;
    }

    int nranks() const { return static_cast<int>(plans_.size()); }
    RankPlan on(int rank) { return RankPlan(plans_[static_cast<std::size_t>(rank)]); }
    // What comes now is another lane of the rank.
    RankPlan next_lane(int rank) {
        Plan& plan = plans_[static_cast<std::size_t>(rank)];
        plan.lanes.push_back(static_cast<std::uint32_t>(plan.instructions.size()));
        return RankPlan(plan);
    }
    const std::vector<Plan>& list() const { return plans_; }
    std::vector<Plan>& list() { return plans_; }

private:
    std::uint16_t add(const Buffer& buffer, std::int64_t advance) {
        for (Plan& plan : plans_) {
            plan.buffers.push_back(buffer);
            plan.advance.push_back(advance);
        }
        return static_cast<std::uint16_t>(plans_[0].buffers.size() - 1);
    }

    std::vector<Plan> plans_;
};

inline CheckReport check_one(const std::vector<Plan>& plans, const Meaning* meaning = nullptr,
                             const CheckOptions& options = {}) {
    return check({{&plans, meaning, {}}}, options);
}

inline std::vector<ViolationKind> kinds(const CheckReport& report) {
    std::vector<ViolationKind> list;
    for (const Violation& violation : report.violations) list.push_back(violation.kind);
    return list;
}

}  // namespace peal::test
