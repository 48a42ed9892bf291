// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "plan/access.hpp"
#include "plan/compile_rank.hpp"
#include "plan/notes.hpp"
#include "plan/support.hpp"

namespace peal::plan {
namespace digest_test {

using testing::kData;
using testing::kInp;
using testing::kSig;
using testing::sample_plan;

// The sample with an instruction of each of the kinds that it lacks.
Plan whole_plan() {
    Plan plan = sample_plan();
    plan.instructions.push_back({Accumulate{Element::f32, {kData, 0, 0, 4}, {kInp, 1, 0, 4}}});
    plan.instructions.push_back(
        {Map{MapOp::convert, Element::f16, 0, {kData, 1, 0, 2}, {kInp, 1, 0, 4}, Element::f32}});
    return plan;
}

TEST(PlanDigest, IsTheSameOnEveryMachine) {
    EXPECT_EQ(digest(whole_plan()), "158f504a3f84993dc9e07501e867bf8e");
    // A plan that has nothing to complete is as it was before anything had.
    Plan plain = whole_plan();
    std::erase_if(plain.instructions, [](const Instruction& instruction) {
        return instruction.group != 0 || is_completion(instruction.action);
    });
    EXPECT_EQ(digest(plain), "88d5c4c4dfb1fa3785cda63c15b2260d");
    EXPECT_EQ(digest(Plan{}), "f9b6d8852fde36d0bc6309b406566b00");
}

TEST(PlanDigest, DoesNotDependOnLinesSourceAndNotes) {
    Plan plan = whole_plan();
    plan.notes =
        std::make_shared<const PlanNotes>(PlanNotes{{{7}}, {"t"}, {{0, 0, 3}}, {{{4, 1}, {5, 1}}}});
    plan.instructions[0].origins = 1;
    for (Instruction& instruction : plan.instructions) instruction.round = 1;
    plan.source = std::make_shared<const Source>("other.peal", "other");
    for (Instruction& instruction : plan.instructions) instruction.line += 5;
    EXPECT_EQ(digest(plan), digest(whole_plan()));
}

TEST(PlanDigest, IsTheSameForOneRankAsForAll) {
    Collective collective;
    collective.count = 100;
    const std::vector<Plan> plans = compile(collective, 3);
    for (int rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(digest(compile_rank(collective, rank, 3)),
                  digest(plans[static_cast<std::size_t>(rank)]));
    }
}

template <class T>
T& action(Plan& plan) {
    for (Instruction& instruction : plan.instructions) {
        if (auto* found = std::get_if<T>(&instruction.action)) return *found;
    }
    throw std::logic_error("there is no such instruction");
}

using Change = std::function<void(Plan&)>;

template <class T>
void add_range(std::map<std::string, Change>& changes, const std::string& name, Range T::*range) {
    changes[name + ".buffer"] = [=](Plan& p) { ++(action<T>(p).*range).buffer; };
    changes[name + ".rank"] = [=](Plan& p) { ++(action<T>(p).*range).rank; };
    changes[name + ".offset"] = [=](Plan& p) { ++(action<T>(p).*range).offset; };
    changes[name + ".length"] = [=](Plan& p) { ++(action<T>(p).*range).length; };
    changes[name + ".shift"] = [=](Plan& p) { ++(action<T>(p).*range).shift; };
}

template <class T>
void add_cell_and_value(std::map<std::string, Change>& changes, const std::string& name) {
    changes[name + ".cell.buffer"] = [](Plan& p) { ++action<T>(p).cell.buffer; };
    changes[name + ".cell.rank"] = [](Plan& p) { ++action<T>(p).cell.rank; };
    changes[name + ".cell.index"] = [](Plan& p) { ++action<T>(p).cell.index; };
    changes[name + ".value.constant"] = [](Plan& p) { ++action<T>(p).value.constant; };
    changes[name + ".value.per_generation"] = [](Plan& p) { ++action<T>(p).value.per_generation; };
}

template <class T>
void add_flag(std::map<std::string, Change>& changes, const std::string& name) {
    changes[name + ".from"] = [](Plan& p) { action<T>(p).from = Pipe::store; };
    changes[name + ".to"] = [](Plan& p) { action<T>(p).to = Pipe::store; };
    changes[name + ".event"] = [](Plan& p) { ++action<T>(p).event; };
}

std::map<std::string, Change> every_change() {
    std::map<std::string, Change> changes = {
        {"kernel", [](Plan& p) { p.kernel += "2"; }},
        {"rank", [](Plan& p) { p.rank = 2; }},
        {"nranks", [](Plan& p) { p.nranks = 4; }},
        {"tile_bytes", [](Plan& p) { ++p.tile_bytes; }},
        {"advance", [](Plan& p) { ++p.advance[kSig]; }},
        {"lanes", [](Plan& p) { p.lanes = {3}; }},
        {"other lanes", [](Plan& p) { p.lanes = {4}; }},
        {"a lane without instructions",
         [](Plan& p) {
             p.lanes = {3, 3};
         }},
        {"turns",
         [](Plan& p) {
             p.turns = {kSig, 1, 2, {}};
         }},
        {"turns.signal",
         [](Plan& p) {
             p.turns = {kData, 1, 2, {}};
         }},
        {"turns.every",
         [](Plan& p) {
             p.turns = {kSig, 2, 2, {}};
         }},
        {"turns.count",
         [](Plan& p) {
             p.turns = {kSig, 1, 3, {}};
         }},
        {"turns.shifts",
         [](Plan& p) {
             p.turns = {kSig, 1, 2, {{kData, {0, 8}}}};
         }},
        {"turns.shifts.buffer",
         [](Plan& p) {
             p.turns = {kSig, 1, 2, {{kInp, {0, 8}}}};
         }},
        {"turns.shifts.by",
         [](Plan& p) {
             p.turns = {kSig, 1, 2, {{kData, {8, 0}}}};
         }},
        {"one buffer less", [](Plan& p) { p.buffers.pop_back(); }},
        {"one instruction less", [](Plan& p) { p.instructions.pop_back(); }},
        {"instructions change places",
         [](Plan& p) { std::swap(p.instructions[0], p.instructions[1]); }},
        {"buffer.name", [](Plan& p) { p.buffers[kData].name = "dato"; }},
        {"buffer.kind", [](Plan& p) { p.buffers[kData].kind = BufferKind::argument; }},
        {"buffer.direction", [](Plan& p) { p.buffers[kData].direction = Direction::in; }},
        {"buffer.element", [](Plan& p) { p.buffers[kData].element = Element::i32; }},
        {"buffer.bytes", [](Plan& p) { ++p.buffers[kData].bytes; }},
        {"buffer.cells", [](Plan& p) { ++p.buffers[kSig].cells; }},
        {"buffer.cell_stride", [](Plan& p) { p.buffers[kSig].cell_stride = 8; }},
        {"instruction.pipe", [](Plan& p) { p.instructions[0].pipe = Pipe::scalar; }},
        {"instruction.joined", [](Plan& p) { p.instructions[0].joined = true; }},
        {"instruction.group", [](Plan& p) { p.instructions[0].group = 1; }},
        {"instruction.group: another", [](Plan& p) { p.instructions[0].group = 2; }},
        {"instruction.group: cached", [](Plan& p) { p.instructions[0].group = kCached; }},
        {"instruction.group and joined",
         [](Plan& p) {
             p.instructions[0].joined = true;
             p.instructions[0].group = 1;
         }},
        {"fence.group", [](Plan& p) { ++action<Fence>(p).group; }},
        {"reduce.op", [](Plan& p) { action<Reduce>(p).op = ReduceOp::max; }},
        {"reduce.element", [](Plan& p) { action<Reduce>(p).element = Element::i32; }},
        {"reduce.src", [](Plan& p) { action<Reduce>(p).src.pop_back(); }},
        {"reduce.src[1]", [](Plan& p) { ++action<Reduce>(p).src[1].offset; }},
        {"accumulate.element", [](Plan& p) { action<Accumulate>(p).element = Element::i32; }},
        {"map.op", [](Plan& p) { action<Map>(p).op = MapOp::clobber; }},
        {"map.element", [](Plan& p) { action<Map>(p).element = Element::i32; }},
        {"map.scalar", [](Plan& p) { action<Map>(p).scalar = 0.25; }},
        {"map.from", [](Plan& p) { action<Map>(p).from = Element::i32; }},
        {"notify.op", [](Plan& p) { action<Notify>(p).op = NotifyOp::add; }},
        {"wait.compare", [](Plan& p) { action<Wait>(p).compare = Compare::eq; }},
        {"wait becomes notify",
         [](Plan& p) {
             const Wait wait = action<Wait>(p);
             p.instructions[3].action = Notify{NotifyOp::set, wait.cell, wait.value};
         }},
        {"barrier.pipe", [](Plan& p) { action<PipeBarrier>(p).pipe = Pipe::load; }},
    };
    add_range(changes, "copy.dst", &Copy::dst);
    add_range(changes, "copy.src", &Copy::src);
    add_range(changes, "reduce.dst", &Reduce::dst);
    add_range(changes, "accumulate.dst", &Accumulate::dst);
    add_range(changes, "accumulate.src", &Accumulate::src);
    add_range(changes, "map.dst", &Map::dst);
    add_range(changes, "map.src", &Map::src);
    add_range(changes, "evict.range", &Evict::range);
    add_cell_and_value<Notify>(changes, "notify");
    add_cell_and_value<Wait>(changes, "wait");
    add_flag<SetFlag>(changes, "set_flag");
    add_flag<WaitFlag>(changes, "wait_flag");
    return changes;
}

TEST(PlanDigest, EveryFieldChangesIt) {
    std::map<std::string, std::string> seen = {{digest(whole_plan()), "the plan itself"}};
    for (const auto& [name, change] : every_change()) {
        Plan plan = whole_plan();
        change(plan);
        const auto [at, is_new] = seen.emplace(digest(plan), name);
        EXPECT_TRUE(is_new) << name << " has the digest of " << at->second;
    }
}

}  // namespace digest_test
}  // namespace peal::plan
