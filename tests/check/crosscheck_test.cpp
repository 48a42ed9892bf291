// SPDX-License-Identifier: Apache-2.0
// The linear method, the exploration and a naive enumeration of all interleavings give the same
// answers (crosscheck/compare.hpp says which). `make check-soundness` goes on with other seeds.
#include <gtest/gtest.h>

#include "check/crosscheck/compare.hpp"

namespace peal {
namespace crosscheck_test {

using namespace test;  // NOLINT
using enum ViolationKind;

// Under sanitizers each program takes many times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kShare = 10;
#else
constexpr int kShare = 1;
#endif

class CrossCheck : public ::testing::Test {
protected:
    // Enough of them were decided, either way and by both methods, for the comparison to mean
    // something.
    void compare(Sort sort, int first, int programs, const std::vector<ViolationKind>& kinds) {
        Tally tally;
        programs /= kShare;
        for (int seed = first; seed < first + programs; ++seed) {
            const RandomProgram program = random_program(sort, static_cast<std::uint64_t>(seed));
            const std::string complaint = disagreement(program, tally);
            ASSERT_EQ(complaint, "") << name(sort) << " seed " << seed << "\n" << listing(program);
        }
        SCOPED_TRACE(to_text(tally));
        RecordProperty("tally", to_text(tally));
        EXPECT_GT(tally.proved, programs / 4);
        EXPECT_GT(tally.violated, programs / 5);
        EXPECT_GT(tally.linear, programs / 8);
        EXPECT_LT(tally.undecided, programs / 12);
        EXPECT_LT(tally.malformed, programs / 8);
        // A share of them may lack a kind that is rare.
        if (kShare == 1) {
            for (const ViolationKind kind : kinds) {
                EXPECT_GT(tally.kinds[kind], programs / 2000) << name(kind);
            }
        }
        tally_ = tally;
    }

    Tally tally_;
};

const std::vector<ViolationKind> kOfSignals = {data_race,    deadlock, stale_signal, unwritten_read,
                                               signal_state, overflow, wrong_result};

TEST_F(CrossCheck, MonotonePrograms) { compare(Sort::monotone, 0, 5'000, kOfSignals); }

TEST_F(CrossCheck, SignalPrograms) {
    compare(Sort::signals, 0, 5'000, kOfSignals);
    EXPECT_GT(tally_.explored, tally_.programs / 2);
}

TEST_F(CrossCheck, CrowdedPrograms) {
    compare(Sort::crowds, 0, 5'000, {data_race, deadlock, overflow});
    EXPECT_GT(tally_.explored, tally_.programs / 3);
}

TEST_F(CrossCheck, PipePrograms) {
    compare(Sort::pipes, 0, 3'000,
            {data_race, deadlock, unwritten_read, pipe_hazard, flag, wrong_result});
    EXPECT_GT(tally_.forms, tally_.programs / 2);
    EXPECT_GT(tally_.early, tally_.programs / 4);
}

TEST_F(CrossCheck, FencedPrograms) {
    compare(Sort::fences, 0, 1'500, {data_race, pipe_hazard});
    EXPECT_GT(tally_.early, tally_.programs / 8);
}

TEST_F(CrossCheck, DeferredPrograms) {
    compare(Sort::deferred, 0, 2'000, {data_race, pipe_hazard, deadlock, wrong_result});
    EXPECT_GT(tally_.forms, tally_.programs / 4);
}

TEST_F(CrossCheck, GatheringPrograms) {
    compare(Sort::gathers, 0, 2'500,
            {data_race, deadlock, unwritten_read, signal_state, overflow, wrong_result});
    EXPECT_GT(tally_.forms, tally_.programs / 10);
    EXPECT_GT(tally_.visible, tally_.programs / 20);
}

TEST_F(CrossCheck, ElementPrograms) {
    compare(Sort::elements, 0, 5'000, {data_race, deadlock, unwritten_read, wrong_result});
    EXPECT_GT(tally_.forms, tally_.programs / 2);
    EXPECT_GT(tally_.visible, tally_.programs / 8);
}

TEST_F(CrossCheck, ProgramsWithLanes) {
    compare(Sort::lanes, 0, 2'000,
            {data_race, deadlock, stale_signal, unwritten_read, wrong_result});
    EXPECT_GT(tally_.forms, tally_.programs / 10);
}

TEST_F(CrossCheck, SequencesOfPrograms) {
    compare(Sort::sequences, 0, 2'500,
            {data_race, deadlock, unwritten_read, signal_state, overflow, wrong_result});
    EXPECT_GT(tally_.forms, tally_.programs / 10);
    EXPECT_GT(tally_.visible, tally_.programs / 20);
}

TEST_F(CrossCheck, ProgramsThatAreCalledAgainAndAgain) {
    compare(Sort::rounds, 0, 5'000,
            {data_race, deadlock, unwritten_read, stale_signal, signal_state, overflow});
    EXPECT_GT(tally_.any, tally_.programs / 10);
    EXPECT_GT(tally_.late, tally_.programs / 100);
}

TEST_F(CrossCheck, ProgramsOnWindowsThatHoldSomething) {
    compare(Sort::held, 0, 2'500, {data_race, deadlock, unwritten_read, wrong_result});
    EXPECT_GT(tally_.any, tally_.programs / 10);
    EXPECT_GT(tally_.late, tally_.programs / 100);
    EXPECT_GT(tally_.visible, tally_.programs / 20);
}

TEST_F(CrossCheck, ProgramsWhoseCallsTakeTurns) {
    compare(Sort::turns, 0, 2'000, {data_race, deadlock, unwritten_read, stale_signal});
    EXPECT_GT(tally_.any, tally_.programs / 10);
    EXPECT_GT(tally_.late, tally_.programs / 100);
}

}  // namespace crosscheck_test
}  // namespace peal
