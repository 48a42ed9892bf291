// SPDX-License-Identifier: Apache-2.0
// Memory that does not fit its plans is refused before anything runs.
#include <gtest/gtest.h>

#include "engine/hand_made.hpp"

namespace peal::engine {
namespace binding_test {

using namespace testing_plans;

class Bindings : public testing::Test {
protected:
    std::string refusal() {
        return message_of(Fault::usage, [&] { engine.run(plans, world.bindings()); });
    }
    Binding& binding(int rank, std::size_t buffer) {
        return world.bindings()[static_cast<std::size_t>(rank)][buffer];
    }
    void bind_everywhere(std::size_t buffer, SymmetricMemory& memory) {
        for (auto& of_rank : world.bindings()) of_rank[buffer].symmetric = &memory;
    }

    std::vector<Plan> plans = mesh_allreduce(2, 4);
    World world{plans};
    InProcessEngine engine{2};
};

TEST_F(Bindings, ThatFitAreTaken) { EXPECT_EQ(refusal(), "no error"); }

TEST_F(Bindings, LargerThanNeededAreTaken) {
    SymmetricMemory data = SymmetricMemory::window(2, 100);
    SymmetricMemory sig = SymmetricMemory::signal(2, 9);
    bind_everywhere(PlanWriter::kWindow, data);
    bind_everywhere(PlanWriter::kSignal, sig);
    EXPECT_EQ(refusal(), "no error");
}

TEST_F(Bindings, OfTooFewRanks) {
    world.bindings().pop_back();
    EXPECT_EQ(refusal(), "run: expected the bindings of 2 ranks, found 1");
}

TEST_F(Bindings, PlansOfTooFewRanks) {
    plans.pop_back();
    EXPECT_EQ(refusal(), "run: expected the plans of 2 ranks, found 1");
}

TEST_F(Bindings, PlansInTheWrongOrder) {
    std::swap(plans[0], plans[1]);
    EXPECT_EQ(refusal(), "run: expected the plan of rank 0 of 2, found that of rank 1 of 2");
}

TEST_F(Bindings, TooFew) {
    world.bindings()[1].pop_back();
    EXPECT_EQ(refusal(), "rank 1: expected 4 bindings, for inp, out, data, sig; found 3");
}

TEST_F(Bindings, ArgumentTooSmall) {
    binding(1, PlanWriter::kOutput).argument = binding(1, PlanWriter::kOutput).argument.first(12);
    EXPECT_EQ(refusal(), "rank 1, argument 'out': expected 16 bytes, found 12 bytes");
}

TEST_F(Bindings, ArgumentNull) {
    binding(1, PlanWriter::kInput).argument = {static_cast<std::byte*>(nullptr), 16};
    EXPECT_EQ(refusal(), "rank 1, argument 'inp': expected 16 bytes, found a null pointer");
}

TEST_F(Bindings, ArgumentInSymmetricMemory) {
    binding(0, PlanWriter::kInput).symmetric = &world.symmetric(PlanWriter::kWindow);
    EXPECT_EQ(refusal(), "rank 0, argument 'inp': expected private memory, found symmetric memory");
}

TEST_F(Bindings, WindowMissing) {
    binding(1, PlanWriter::kWindow).symmetric = nullptr;
    EXPECT_EQ(refusal(), "rank 1, window 'data': expected symmetric memory, found none");
}

TEST_F(Bindings, WindowInPrivateMemory) {
    binding(1, PlanWriter::kWindow) = binding(1, PlanWriter::kInput);
    EXPECT_EQ(refusal(), "rank 1, window 'data': expected symmetric memory, found private memory");
}

TEST_F(Bindings, WindowNotTheSameEverywhere) {
    SymmetricMemory other = SymmetricMemory::window(2, 16);
    binding(1, PlanWriter::kWindow).symmetric = &other;
    EXPECT_EQ(refusal(),
              "rank 1, window 'data': expected the symmetric memory of rank 0, found another");
}

TEST_F(Bindings, WindowOfOtherRankCount) {
    SymmetricMemory other = SymmetricMemory::window(3, 16);
    bind_everywhere(PlanWriter::kWindow, other);
    EXPECT_EQ(refusal(), "window 'data': expected symmetric memory of 2 ranks, found 3");
}

TEST_F(Bindings, WindowOfOtherKind) {
    SymmetricMemory other = SymmetricMemory::signal(2, 16);
    bind_everywhere(PlanWriter::kWindow, other);
    EXPECT_EQ(
        refusal(),
        "window 'data': expected a window of at least 16 bytes, found 16 signals, 64 bytes apart");
}

TEST_F(Bindings, WindowTooSmall) {
    SymmetricMemory other = SymmetricMemory::window(2, 15);
    bind_everywhere(PlanWriter::kWindow, other);
    EXPECT_EQ(refusal(),
              "window 'data': expected a window of at least 16 bytes, found a window of 15 bytes");
}

TEST_F(Bindings, SignalOfOtherKind) {
    SymmetricMemory other = SymmetricMemory::window(2, 1024);
    bind_everywhere(PlanWriter::kSignal, other);
    EXPECT_EQ(refusal(),
              "signal 'sig': expected a window of at least 2 signals, 64 bytes apart, found a "
              "window of 1024 bytes");
}

TEST_F(Bindings, SignalTooSmall) {
    SymmetricMemory other = SymmetricMemory::signal(2, 1);
    bind_everywhere(PlanWriter::kSignal, other);
    EXPECT_EQ(refusal(),
              "signal 'sig': expected a window of at least 2 signals, 64 bytes apart, found 1 "
              "signals, 64 bytes apart");
}

TEST_F(Bindings, SignalOfOtherStride) {
    SymmetricMemory other = SymmetricMemory::signal(2, 2, 4);
    bind_everywhere(PlanWriter::kSignal, other);
    EXPECT_EQ(refusal(),
              "signal 'sig': expected a window of at least 2 signals, 64 bytes apart, found 2 "
              "signals, 4 bytes apart");
}

TEST_F(Bindings, ArgumentsThatOverlap) {
    std::vector<std::byte> memory(31);
    binding(1, PlanWriter::kInput).argument = std::span(memory).first(16);
    binding(1, PlanWriter::kOutput).argument = std::span(memory).last(16);
    EXPECT_EQ(refusal(),
              "rank 1: arguments 'inp' and 'out' overlap in memory, and 'out' is written");
}

TEST_F(Bindings, ArgumentsOfTwoRanksThatOverlap) {
    binding(1, PlanWriter::kOutput) = binding(0, PlanWriter::kOutput);
    EXPECT_EQ(
        refusal(),
        "argument 'out' of rank 0 and argument 'out' of rank 1 overlap in memory, and 'out' is "
        "written");
}

TEST_F(Bindings, InputsOfTwoRanksMayOverlap) {
    binding(1, PlanWriter::kInput) = binding(0, PlanWriter::kInput);
    EXPECT_EQ(refusal(), "no error");
}

TEST_F(Bindings, AnArgumentInAWindow) {
    SymmetricMemory& data = *binding(0, PlanWriter::kWindow).symmetric;
    binding(0, PlanWriter::kInput).argument = {data.on(1), 16};
    EXPECT_EQ(refusal(),
              "rank 0: argument 'inp' and window 'data' overlap in memory, and 'data' is written");
}

TEST_F(Bindings, ArgumentsThatAreOnlyReadMayOverlap) {
    for (Plan& plan : plans) {
        plan.buffers[PlanWriter::kOutput].direction = Direction::in;
        plan.instructions.clear();
    }
    binding(1, PlanWriter::kOutput) = binding(1, PlanWriter::kInput);
    EXPECT_EQ(refusal(), "no error");
}

TEST_F(Bindings, ArgumentsSideBySideDoNotOverlap) {
    std::vector<std::byte> memory(32);
    binding(1, PlanWriter::kInput).argument = std::span(memory).last(16);
    binding(1, PlanWriter::kOutput).argument = std::span(memory).first(16);
    EXPECT_EQ(refusal(), "no error");
}

TEST(BindingsOfTwoWindows, ToTheSameMemory) {
    const std::vector<Plan> plans = {
        PlanWriter(0, 1, {window("a", Element::f32, 16), window("b", Element::f32, 16)}).finish()};
    SymmetricMemory memory = SymmetricMemory::window(1, 16);
    Binding both;
    both.symmetric = &memory;
    InProcessEngine engine(1);
    EXPECT_EQ(message_of(Fault::usage,
                         [&] {
                             engine.run(plans, {{both, both}});
                         }),
              "window 'a' and window 'b' are bound to the same symmetric memory");
}

// ---------------------------------------------------------------------------- symmetric memory

TEST(SymmetricMemory, IsZeroedAndPageAligned) {
    const SymmetricMemory memory = SymmetricMemory::window(3, 5000);
    EXPECT_EQ(memory.nranks(), 3);
    EXPECT_EQ(memory.kind(), BufferKind::window);
    EXPECT_EQ(memory.bytes(), 5000U);
    for (int rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.on(rank)) % 4096, 0U);
        for (std::size_t i = 0; i < 5000; ++i) ASSERT_EQ(memory.on(rank)[i], std::byte{0});
    }
    EXPECT_GE(memory.on(1) - memory.on(0), 5000);
    EXPECT_EQ(memory.on(2) - memory.on(1), memory.on(1) - memory.on(0));
}

TEST(SymmetricMemory, OfSignals) {
    const SymmetricMemory memory = SymmetricMemory::signal(2, 10, 16);
    EXPECT_EQ(memory.kind(), BufferKind::signal);
    EXPECT_EQ(memory.bytes(), 160U);
    EXPECT_EQ(memory.generation(), 0);
}

TEST(SymmetricMemory, OfNoBytes) {
    const SymmetricMemory memory = SymmetricMemory::window(2, 0);
    EXPECT_EQ(memory.bytes(), 0U);
    EXPECT_NE(memory.on(0), memory.on(1));
}

TEST(SymmetricMemory, RefusesWhatCannotBe) {
    EXPECT_EQ(message_of(Fault::usage, [] { SymmetricMemory::window(0, 8); }),
              "symmetric memory: expected at least 1 rank, found 0");
    EXPECT_EQ(message_of(Fault::usage, [] { SymmetricMemory::signal(1, 8, 6); }),
              "symmetric memory: expected a cell stride that is a multiple of 4 bytes, found 6");
    EXPECT_EQ(
        message_of(Fault::resource, [] { SymmetricMemory::window(2, 1ULL << 62); }),
        "symmetric memory: 2 ranks of 4611686018427387904 bytes each: Cannot allocate memory");
    EXPECT_EQ(
        message_of(Fault::resource, [] { SymmetricMemory::window(8, 1ULL << 62); }),
        "symmetric memory: 8 ranks of 4611686018427387904 bytes each: Cannot allocate memory");
}

}  // namespace binding_test
}  // namespace peal::engine
