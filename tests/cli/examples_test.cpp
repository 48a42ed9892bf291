// SPDX-License-Identifier: Apache-2.0
// The programs in examples/communicator/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "support/patterns.hpp"

namespace peal::test {
namespace examples_test {

Ran launch(int nranks, const std::string& example) {
    return peal({"launch", "-n", std::to_string(nranks), "./" + example}, PEAL_EXAMPLES);
}

class CommunicatorExamples : public ::testing::TestWithParam<int> {};

TEST_P(CommunicatorExamples, HelloGreetsFromEveryRank) {
    const int nranks = GetParam();
    const Ran ran = launch(nranks, "hello");
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.err, "");
    const std::string all = std::to_string(nranks);
    for (int rank = 0; rank < nranks; ++rank) {
        EXPECT_THAT(ran.out,
                    ::testing::HasSubstr("rank " + std::to_string(rank) + " of " + all +
                                         ": we are " + all + ", and our ranks add up to " +
                                         std::to_string(nranks * (nranks - 1) / 2) + "\n"));
    }
}

TEST_P(CommunicatorExamples, TrainingLearnsAndKeepsTheRanksTogether) {
    const Ran ran = launch(GetParam(), "training_step");
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.err, "");
    std::vector<double> losses;
    for (const auto& match : matches(ran.out, "step +[0-9]+  loss ([0-9.]+)\n")) {
        losses.push_back(std::stod(match[1]));
    }
    ASSERT_EQ(losses.size(), 5u) << ran.out;
    EXPECT_LT(losses.back(), losses.front() / 100);
    EXPECT_THAT(ran.out,
                ::testing::EndsWith(std::to_string(GetParam()) + " ranks, identical weights\n"));
}

TEST_P(CommunicatorExamples, TheTourIsRight) {
    const Ran ran = launch(GetParam(), "tour");
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(ran.out, std::to_string(GetParam()) + " ranks: all as expected\n");
}

INSTANTIATE_TEST_SUITE_P(Ranks, CommunicatorExamples, ::testing::Values(2, 4));

}  // namespace examples_test
}  // namespace peal::test
