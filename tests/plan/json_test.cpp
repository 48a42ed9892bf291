// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "plan/names.hpp"
#include "plan/support.hpp"

namespace peal::plan {
namespace json_test {

using namespace peal::testing;

// ---------------------------------------------------------------------------- round trip

// Plans that need not make sense: every field takes any value it can have.
class AnyPlan {
public:
    explicit AnyPlan(std::uint64_t seed) : random_(seed) {}

    Plan plan() {
        Plan plan;
        plan.kernel = text();
        plan.rank = integer<std::int32_t>();
        plan.nranks = integer<std::int32_t>();
        plan.tile_bytes = integer<std::uint64_t>();
        for (std::uint64_t i = below(4); i > 0; --i) plan.buffers.push_back(buffer());
        for (std::uint64_t i = below(4); i > 0; --i) {
            plan.advance.push_back(integer<std::int64_t>());
        }
        for (std::uint64_t i = below(12); i > 0; --i) plan.instructions.push_back(instruction());
        for (std::uint64_t i = below(3); i > 0; --i) {
            plan.lanes.push_back(integer<std::uint32_t>());
        }
        if (below(3) == 0) plan.turns = turns();
        return plan;
    }

private:
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    template <class Integer>
    Integer integer() {
        switch (below(4)) {
            case 0: return 0;
            case 1: return std::numeric_limits<Integer>::min();
            case 2: return std::numeric_limits<Integer>::max();
            default: return static_cast<Integer>(random_());
        }
    }
    template <class Enum, std::size_t kCount>
    Enum any(const std::array<Enum, kCount>& values) {
        return values[below(kCount)];
    }
    std::string text() {
        static const std::array<std::string, 4> kTexts = {"", "data", "\"\\\n\t{", "größe"};
        return any(kTexts);
    }
    double number() {
        static constexpr std::array kNumbers = {0.0,
                                                -0.0,
                                                1.0,
                                                0.1,
                                                -1e300,
                                                5e-324,
                                                std::numeric_limits<double>::infinity(),
                                                -std::numeric_limits<double>::infinity()};
        return any(kNumbers);
    }
    Buffer buffer() {
        return {text(),
                any(kBufferKinds),
                any(kDirections),
                any(kElements),
                integer<std::uint64_t>(),
                integer<std::uint64_t>(),
                below(2) ? kCacheLineBytes : integer<std::uint64_t>()};
    }
    Range range() {
        return {below(2) ? kTile : integer<std::uint16_t>(), integer<std::int32_t>(),
                integer<std::uint64_t>(), integer<std::uint64_t>(),
                below(2) ? std::uint16_t{0} : integer<std::uint16_t>()};
    }
    Turns turns() {
        Turns turns{
            integer<std::uint16_t>(), integer<std::int64_t>(), integer<std::uint32_t>(), {}};
        for (std::uint64_t i = below(3); i > 0; --i) {
            turns.shifts.push_back({integer<std::uint16_t>(), {}});
            for (std::uint64_t j = below(4); j > 0; --j) {
                turns.shifts.back().by.push_back(integer<std::uint64_t>());
            }
        }
        return turns;
    }
    Cell cell() {
        return {integer<std::uint16_t>(), integer<std::int32_t>(), integer<std::uint64_t>()};
    }
    Value value() { return {integer<std::int64_t>(), integer<std::int64_t>()}; }
    Action action() {
        switch (below(11)) {
            case 0: return Copy{range(), range()};
            case 1: {
                Reduce reduce{any(kReduceOps), any(kElements), range(), {}};
                for (std::uint64_t i = below(4); i > 0; --i) reduce.src.push_back(range());
                return reduce;
            }
            case 2:
                return Map{any(kMapOps), any(kElements), number(),
                           range(),      range(),        any(kElements)};
            case 3: return Notify{any(kNotifyOps), cell(), value()};
            case 4: return Wait{any(kCompares), cell(), value()};
            case 5: return SetFlag{any(kPipes), any(kPipes), integer<std::uint8_t>()};
            case 6: return WaitFlag{any(kPipes), any(kPipes), integer<std::uint8_t>()};
            case 7: return Accumulate{any(kElements), range(), range()};
            case 8: return Fence{integer<std::uint16_t>()};
            case 9: return Evict{range()};
            default: return PipeBarrier{any(kPipes)};
        }
    }
    Instruction instruction() {
        return {action(),      any(kPipes), integer<std::uint32_t>(),
                below(2) == 1, 0,           below(2) ? kCached : integer<std::uint16_t>()};
    }

    std::mt19937_64 random_;
};

TEST(PlanJson, AnyPlansComeBackEqual) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        AnyPlan any(seed);
        const std::vector<Plan> plans = {any.plan(), any.plan()};
        ASSERT_EQ(plans_from_json(to_json(plans)), plans) << "seed " << seed;
    }
}

TEST(PlanJson, OnePlanIsAListOfOne) {
    const std::vector<Plan> back = plans_from_json(to_json(sample_plan()));
    ASSERT_EQ(back.size(), 1u);
    EXPECT_EQ(back.front(), sample_plan());
    EXPECT_TRUE(plans_from_json(to_json(std::vector<Plan>{})).empty());
}

TEST(PlanJson, NotANumberComesBack) {
    Plan plan = sample_plan();
    std::get<Map>(plan.instructions[5].action).scalar = std::nan("");
    const Plan back = plans_from_json(to_json(plan)).front();
    EXPECT_TRUE(std::isnan(std::get<Map>(back.instructions[5].action).scalar));
}

TEST(PlanJson, SourcesAreStoredOnceAndComeBack) {
    std::vector<Plan> plans(3, sample_plan());
    plans[2].source = nullptr;
    const std::string json = to_json(plans);
    EXPECT_EQ(json.find("kernel sample()"), json.rfind("kernel sample()"));
    const std::vector<Plan> back = plans_from_json(json);
    EXPECT_EQ(back[0].source->name(), "sample.peal");
    EXPECT_EQ(back[0].source->text(), plans[0].source->text());
    EXPECT_EQ(back[0].source, back[1].source);
    EXPECT_EQ(back[2].source, nullptr);
}

TEST(PlanJson, TheFilesOfASourceComeBack) {
    Plan plan = sample_plan();
    plan.source = std::make_shared<const Source>(
        "kernel.cpp", "a\nb\nc\nd\n", std::vector<Source::Part>{{"x.hpp", 2}, {"y.hpp", 4}});
    const std::string json = to_json(plan);
    const SourcePtr back = plans_from_json(json).front().source;
    EXPECT_EQ(back->full_place(1), "kernel.cpp:1");
    EXPECT_EQ(back->full_place(3), "x.hpp:2");
    EXPECT_EQ(back->full_place(4), "y.hpp:1");
    const std::string part = R"("first_line":4)";
    std::string broken = json;
    broken.replace(broken.find(part), part.size(), R"("first_line":2)");
    EXPECT_EQ(error_of([&] { plans_from_json(broken); }),
              "sources[0].included[1].first_line: the parts are not in order");
}

TEST(PlanJson, WhatIsTheDefaultIsLeftOut) {
    Plan plan = sample_plan();
    plan.instructions = {
        {Map{MapOp::convert, Element::f16, 0, {kTile, 1, 0, 32}, {kTile, 1, 64, 64}}, Pipe::none,
         0}};
    EXPECT_EQ(to_json(plan).find("joined"), std::string::npos);
    EXPECT_EQ(to_json(plan).find("from"), std::string::npos);
    EXPECT_EQ(to_json(plan).find("included"), std::string::npos);
    EXPECT_EQ(to_json(plan).find("group"), std::string::npos);
    plan.instructions[0].joined = true;
    std::get<Map>(plan.instructions[0].action).from = Element::i32;
    EXPECT_NE(to_json(plan).find(R"("from":"i32","joined":true)"), std::string::npos)
        << to_json(plan);
}

TEST(PlanJson, IsWrittenForPeople) {
    Plan plan;
    plan.kernel = "tiny";
    plan.buffers = {argument("x", 8)};
    plan.advance = {0};
    plan.instructions = {{Map{MapOp::fill, Element::f32, 1, {0, 0, 0, 8}, {}}, Pipe::none, 3},
                         {PipeBarrier{Pipe::all}, Pipe::none, 0},
                         {Copy{{0, 0, 0, 4}, {0, 0, 4, 4}}, Pipe::none, 0, false, 0, 3},
                         {Copy{{0, 0, 0, 4}, {0, 0, 4, 4}}, Pipe::none, 0, false, 0, kCached},
                         {Evict{{0, 0, 0, 8}}, Pipe::none, 0},
                         {Fence{3}, Pipe::none, 0}};
    EXPECT_EQ(to_json(plan),
              R"({"format": "peal-plans", "version": 1,
 "sources": [],
 "plans": [
  {"kernel": "tiny", "rank": 0, "nranks": 1, "tile_bytes": 0,
   "buffers": [
     {"name":"x","kind":"argument","direction":"in","element":"f32","bytes":8}],
   "advance": [0],
   "instructions": [
     {"do":"map","op":"fill","element":"f32","scalar":1.0,"dst":{"buffer":0,"rank":0,"offset":0,"length":8},"src":{"buffer":"tile","rank":0,"offset":0,"length":0},"line":3},
     {"do":"pipe_barrier","drain":"ALL"},
     {"do":"copy","dst":{"buffer":0,"rank":0,"offset":0,"length":4},"src":{"buffer":0,"rank":0,"offset":4,"length":4},"group":3},
     {"do":"copy","dst":{"buffer":0,"rank":0,"offset":0,"length":4},"src":{"buffer":0,"rank":0,"offset":4,"length":4},"group":"cache"},
     {"do":"evict","range":{"buffer":0,"rank":0,"offset":0,"length":8}},
     {"do":"fence","completes":3}]}]}
)");
}

// ---------------------------------------------------------------------------- bad input

// The error for the sample's JSON with the first `from` replaced by `to`.
std::string broken(std::string_view from, std::string_view to) {
    std::string json = to_json(sample_plan());
    const std::size_t at = json.find(from);
    if (at == std::string::npos) return "'" + std::string(from) + "' is not in the JSON";
    json.replace(at, from.size(), to);
    return error_of([&] { plans_from_json(json); });
}

// Files of earlier versions have other words for pipes.
TEST(PlanJson, OlderWordsForPipesAreRead) {
    Plan plan;
    plan.kernel = "flags";
    plan.tile_bytes = 8;
    plan.instructions = {{SetFlag{Pipe::load, Pipe::store, 1}, Pipe::none, 0},
                         {WaitFlag{Pipe::load, Pipe::store, 1}, Pipe::none, 0},
                         {PipeBarrier{Pipe::all}, Pipe::none, 0},
                         {Map{MapOp::fill, Element::f32, 1, {kTile, 0, 0, 8}, {}}, Pipe::vector, 0},
                         {Fence{}, Pipe::scalar, 0}};
    std::string text = to_json(plan);
    for (const auto& [now, before] :
         {std::pair("\"MTE2\"", "\"load\""), std::pair("\"MTE3\"", "\"store\""),
          std::pair("\"ALL\"", "\"all\""), std::pair("\"V\"", "\"vector\""),
          std::pair("\"S\"", "\"scalar\"")}) {
        std::size_t at = text.find(now);
        ASSERT_NE(at, std::string::npos) << now;
        for (; at != std::string::npos; at = text.find(now)) {
            text.replace(at, std::string(now).size(), before);
        }
    }
    EXPECT_EQ(plans_from_json(text), std::vector<Plan>{plan});
}

TEST(PlanJson, BadValuesAreNamedByTheirPath) {
    EXPECT_EQ(broken(R"("index":1)", R"("index":"1")"),
              "plans[0].instructions[1].cell.index: expected an unsigned integer, found string");
    EXPECT_EQ(broken(R"("index":1)", R"("index":-1)"),
              "plans[0].instructions[1].cell.index: expected an unsigned integer, found -1");
    EXPECT_EQ(broken(R"("index":1)", R"("index":1.5)"),
              "plans[0].instructions[1].cell.index: expected an unsigned integer, found number");
    EXPECT_EQ(broken(R"("rank": 1)", R"("rank": 4294967296)"),
              "plans[0].rank: expected an integer in -2147483648..2147483647, found 4294967296");
    EXPECT_EQ(
        broken(R"({"buffer":2,)", R"({"buffer":65536,)"),
        "plans[0].instructions[0].dst.buffer: expected an unsigned integer in 0..65535, found "
        "65536");
    EXPECT_EQ(broken(R"("event":3)", R"("event":256)"),
              "plans[0].instructions[7].event: expected an unsigned integer in 0..255, found 256");
    EXPECT_EQ(broken(R"("scalar":0.5)", R"("scalar":"much")"),
              "plans[0].instructions[5].scalar: expected a number, found string");
    EXPECT_EQ(broken(R"([0,0,0,2])", R"({})"), "plans[0].advance: expected an array, found object");
    EXPECT_EQ(broken(R"("source": 0)", R"("source": 1)"),
              "plans[0].source: there is no source 1, the document has 1");
}

TEST(PlanJson, BadWordsAreListed) {
    EXPECT_EQ(broken(R"("do":"copy")", R"("do":"move")"),
              "plans[0].instructions[0].do: there is no instruction 'move'");
    EXPECT_EQ(broken(R"("op":"sum")", R"("op":"avg")"),
              "plans[0].instructions[4].op: expected one of sum, prod, max, min, found 'avg'");
    EXPECT_EQ(broken(R"("kind":"window")", R"("kind":"door")"),
              "plans[0].buffers[2].kind: expected one of argument, window, signal, found 'door'");
    EXPECT_EQ(broken(R"("element":"f32")", R"("element":7)"),
              "plans[0].buffers[0].element: expected a string, found number");
}

TEST(PlanJson, FieldsAreThereAndKnown) {
    EXPECT_EQ(broken(R"("compare":"ge",)", ""),
              "plans[0].instructions[3]: field 'compare' is missing");
    EXPECT_EQ(broken(R"("compare":"ge")", R"("compare":"ge","colour":"red")"),
              "plans[0].instructions[3]: there is no field 'colour', expected do, compare, cell, "
              "value, pipe, line, joined, group");
    EXPECT_EQ(error_of([] { plans_from_json("{}"); }), "the document: field 'format' is missing");
    EXPECT_EQ(error_of([] { plans_from_json("[]"); }),
              "the document: expected an object, found array");
    EXPECT_EQ(broken(R"("format": "peal-plans")", R"("format": "music")"),
              "format: expected 'peal-plans', found 'music'");
    EXPECT_EQ(broken(R"("version": 1)", R"("version": 2)"), "version: expected 1, found 2");
}

TEST(PlanJson, TheFileIsNamed) {
    EXPECT_EQ(error_of([] { plans_from_json("[]", "a.json"); }),
              "a.json: expected an object, found array");
    EXPECT_EQ(error_of([] {
                  plans_from_json(R"({"format": "music", "version": 1, "plans": []})", "a.json");
              }),
              "a.json: format: expected 'peal-plans', found 'music'");
    EXPECT_EQ(error_of([] { plans_from_json("{", "a.json"); }).substr(0, 17), "a.json: not JSON:");
}

TEST(PlanJson, TextThatIsNotJsonIsSaidToBe) {
    EXPECT_EQ(error_of([] { plans_from_json("{\"format\": }"); }),
              "not JSON: parse error at line 1, column 12: syntax error while parsing value - "
              "unexpected '}'; expected '[', '{', or a literal");
    EXPECT_EQ(error_of([] { plans_from_json(""); }),
              "not JSON: parse error at line 1, column 1: syntax error while parsing value - "
              "unexpected end of input; expected '[', '{', or a literal");
}

// Whatever is cut out of a document, reading it ends in plans or in an Error.
TEST(PlanJson, DamagedTextNeverGetsThrough) {
    const std::string json = to_json(sample_plan());
    std::mt19937_64 random(1);
    for (int round = 0; round < 500; ++round) {
        std::string damaged = json;
        const std::size_t at = random() % damaged.size();
        damaged.erase(at, 1 + random() % 20);
        const std::string message = error_of([&] { plans_from_json(damaged); });
        ASSERT_EQ(message.find("wrong fault"), std::string::npos) << message;
    }
}

}  // namespace json_test
}  // namespace peal::plan
