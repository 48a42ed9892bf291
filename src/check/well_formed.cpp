// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <fmt/format.h>

#include "check/misuse.hpp"
#include "check/static_rules.hpp"
#include "peal/error.hpp"
#include "plan/access.hpp"
#include "plan/pipes.hpp"

namespace peal::checker {
namespace {

void require_same_shape(const CheckStage& stage, std::size_t number) {
    if (!stage.plans || stage.plans->empty()) misuse("stage {} has no plans", number);
    const std::vector<Plan>& plans = *stage.plans;
    for (std::size_t r = 0; r < plans.size(); ++r) {
        const Plan& plan = plans[r];
        if (plan.rank != static_cast<std::int32_t>(r) ||
            plan.nranks != static_cast<std::int32_t>(plans.size())) {
            misuse("stage {}: plan {} of {} says that it is rank {} of {}", number, r, plans.size(),
                   plan.rank, plan.nranks);
        }
        if (plan.buffers.size() != plans[0].buffers.size() || plan.advance != plans[0].advance) {
            misuse("stage {}: ranks 0 and {} disagree on buffers or advance", number, r);
        }
        if (plan.advance.size() != plan.buffers.size()) {
            misuse("stage {}: 'advance' has {} entries for {} buffers", number, plan.advance.size(),
                   plan.buffers.size());
        }
    }
    if (!stage.memory.empty() && stage.memory.size() != plans[0].buffers.size()) {
        misuse("stage {}: {} memory names for {} buffers", number, stage.memory.size(),
               plans[0].buffers.size());
    }
}

void require_meaning(const CheckStage& stage, std::size_t number) {
    const std::vector<Plan>& plans = *stage.plans;
    const auto require = [&](std::int32_t rank, std::uint16_t buffer) {
        if (rank < 0 || rank >= plans[0].nranks || buffer >= plans[0].buffers.size() ||
            plans[0].buffers[buffer].kind == BufferKind::signal) {
            misuse("stage {}: its meaning speaks of buffer {} of rank {}, which is no data", number,
                   buffer, rank);
        }
    };
    for (const Staged& staged : stage.meaning->staged) require(staged.rank, staged.buffer);
    for (const Expected& output : stage.meaning->outputs) {
        require(output.rank, output.buffer);
        if (!output.of || output.of->empty()) {
            misuse("stage {}: an output of its meaning has no contributions", number);
        }
        if (output.length % bytes_of(output.element) != 0) {
            misuse(
                "stage {}: an output of its meaning has {} bytes, no whole number of {} elements",
                number, output.length, name(output.element));
        }
    }
    std::set<const void*> seen;
    for (const Expected& output : stage.meaning->outputs) {
        if (!seen.insert(output.of.get()).second) continue;
        for (const Contribution& part : *output.of) require(part.rank, part.buffer);
    }
}

// Sizes and buffers of one instruction; whether ranges exist is a matter of static_violations.
class Shape {
public:
    Shape(const Plan& plan, std::size_t index) : plan_(plan), index_(index) {}

    void operator()(const Copy& copy) const {
        memory(copy.dst);
        memory(copy.src);
        if (copy.dst.length != copy.src.length) fail("the lengths differ");
        if (overlaps(copy.dst, copy.src) && !is_placed(copy.dst, copy.src)) {
            fail("the destination overlaps the source");
        }
    }
    void operator()(const Reduce& reduce) const {
        if (reduce.src.empty()) fail("a reduction needs a source");
        memory(reduce.dst);
        for (const Range& source : reduce.src) element_wise(reduce.dst, source, reduce.element);
    }
    void operator()(const Accumulate& accumulate) const {
        memory(accumulate.dst);
        element_wise(accumulate.dst, accumulate.src, accumulate.element);
        if (overlaps(accumulate.dst, accumulate.src)) fail("the destination overlaps the source");
        if (accumulate.dst.offset % bytes_of(accumulate.element) != 0) {
            fail("the destination is not aligned to its elements");
        }
    }
    void operator()(const Map& map) const {
        memory(map.dst);
        if (map.op == MapOp::convert) {
            elements(map.dst, map.element);
            elements(map.src, map.from);
            if (map.dst.length / bytes_of(map.element) != map.src.length / bytes_of(map.from)) {
                fail("the numbers of elements differ");
            }
            apart(map.dst, map.src);
        } else if (map.op == MapOp::row_sum) {
            elements(map.src, map.element);
            if (map.dst.length != bytes_of(map.element) || map.src.length == 0) {
                fail("a row of one element or more is summed up in one element");
            }
            apart(map.dst, map.src);
        } else if (has_source(map.op)) {
            element_wise(map.dst, map.src, map.element);
        }
    }
    void operator()(const Notify& notify) const { signal(notify.cell); }
    void operator()(const Wait& wait) const {
        signal(wait.cell);
        if (wait.cell.rank != plan_.rank) fail("a rank can wait on its own cells only");
    }
    void operator()(const SetFlag& flag) const { pipes(flag.from, flag.to); }
    void operator()(const WaitFlag& flag) const { pipes(flag.from, flag.to); }
    void operator()(const PipeBarrier&) const {}

private:
    [[noreturn]] void fail(std::string_view what) const {
        throw Error(Fault::program, fmt::format("check: {}, rank {}, instruction {} ({}): {}",
                                                plan_.kernel, plan_.rank, index_,
                                                to_text(plan_.instructions[index_], plan_), what));
    }
    void memory(const Range& range) const {
        if (is_tile(range)) {
            if (range.rank != plan_.rank) fail("tiles of other ranks cannot be reached");
            return;
        }
        if (range.buffer >= plan_.buffers.size()) fail("there is no such buffer");
        const BufferKind kind = plan_.buffers[range.buffer].kind;
        if (kind == BufferKind::signal) fail("signals are not data");
        if (kind == BufferKind::argument && range.rank != plan_.rank) {
            fail("arguments of other ranks cannot be reached");
        }
    }
    void element_wise(const Range& dst, const Range& src, Element element) const {
        elements(src, element);
        if (dst.length != src.length) fail("the lengths differ");
        apart(dst, src);
    }
    void elements(const Range& range, Element element) const {
        memory(range);
        if (range.length % bytes_of(element) != 0) {
            fail("the length is no whole number of elements");
        }
    }
    void apart(const Range& dst, const Range& src) const {
        if (!equal_or_disjoint(dst, src) && !is_placed(dst, src)) {
            fail("the destination overlaps a source in part");
        }
    }
    // Tiles that a kernel placed itself: that they overlap is a violation, and reported as such.
    bool is_placed(const Range& dst, const Range& src) const {
        return is_tile(dst) && is_tile(src) && uses_pipes(plan_);
    }
    void signal(const Cell& cell) const {
        if (cell.buffer >= plan_.buffers.size()) fail("there is no such buffer");
        if (plan_.buffers[cell.buffer].kind != BufferKind::signal) fail("that is no signal");
    }
    void pipes(Pipe from, Pipe to) const {
        for (const Pipe pipe : {from, to}) {
            if (pipe == Pipe::none || pipe == Pipe::all) fail("a flag is between two pipes");
        }
    }

    const Plan& plan_;
    std::size_t index_;
};

void require_strides(const Plan& plan) {
    for (const Buffer& buffer : plan.buffers) {
        if (buffer.kind == BufferKind::signal && buffer.cell_stride < bytes_of(buffer.element)) {
            throw Error(Fault::program, fmt::format("check: {}, signal '{}': cells overlap",
                                                    plan.kernel, buffer.name));
        }
    }
}

}  // namespace

void require_well_formed(const std::vector<CheckStage>& stages) {
    if (stages.empty()) misuse("there is nothing to check: no stages");
    for (std::size_t i = 0; i < stages.size(); ++i) {
        require_same_shape(stages[i], i);
        if (stages[i].plans->size() != stages[0].plans->size()) {
            misuse("stages 0 and {} have {} and {} ranks", i, stages[0].plans->size(),
                   stages[i].plans->size());
        }
        if (stages[i].meaning) require_meaning(stages[i], i);
        for (const Plan& plan : *stages[i].plans) {
            require_strides(plan);
            for (std::size_t k = 0; k < plan.instructions.size(); ++k) {
                std::visit(Shape(plan, k), plan.instructions[k].action);
            }
        }
    }
}

}  // namespace peal::checker
