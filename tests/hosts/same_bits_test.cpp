// SPDX-License-Identifier: Apache-2.0
// What docs/collectives.md says of the order of a reduction is true between hosts: where it is rank
// order, there are the bits of one machine.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm/profile_variable.hpp"
#include "comm/reference.hpp"
#include "hosts/several_hosts.hpp"
#include "shm/shared.hpp"
#include "support/patterns.hpp"

namespace peal::hosts {
namespace same_bits_test {

using comm::test::ProfileVariable;
using comm::test::ProfileWith;
using comm::test::Task;
using comm::test::task_of;

constexpr int kRanks = 4;
constexpr std::uint64_t kCount = 1000;

struct Bits {
    std::array<std::array<std::uint32_t, kRanks * kCount>, kRanks> by_rank;
};

// Of very different sizes, so that each order of a sum has a result of its own.
std::vector<float> scattered_input(const Task& task, int rank) {
    std::vector<float> values(comm::test::input_size(task, rank));
    auto state = static_cast<std::uint32_t>(rank) * 104729 + 1;
    for (float& value : values) {
        state = state * 1664525 + 1013904223;
        value = std::ldexp(static_cast<float>(state >> 12) - float{1 << 19},
                           static_cast<int>(state % 16) - 8);
    }
    return values;
}

// What each rank has of a sum. `recipe`: the one that must be taken; "": any.
Bits sums(const std::vector<int>& layout, CollectiveKind kind, const std::string& recipe) {
    const shm::test::Shared<Bits> bits;
    const auto outcome = test::run_on_hosts(layout, [&](Communicator& comm) {
        const Task task = task_of(kind, kRanks, kCount, 0);
        const std::vector<float> input = scattered_input(task, comm.rank());
        std::vector<float> output(comm::test::output_of(task, comm.rank()).size());
        Call call = call::between(kind, input, output, ReduceOp::sum, task.root);
        call.counts = task.counts;
        if (const std::string taken = comm.recipe(call); recipe != "" && taken != recipe) {
            throw std::runtime_error(fmt::format("{} is taken instead of {}", taken, recipe));
        }
        comm.run(call);
        std::uint32_t* to = bits->by_rank[static_cast<std::size_t>(comm.rank())].data();
        for (const float value : output) *to++ = std::bit_cast<std::uint32_t>(value);
    });
    EXPECT_EQ(outcome.text(), "") << name(kind) << " " << recipe;
    return *bits;
}

Bits sums_on_hosts(const std::vector<int>& layout, CollectiveKind kind, const std::string& recipe) {
    collectives::Rule rule{.kind = kind, .where = collectives::Where::hosts, .recipe = recipe};
    if (recipe == "pipeline") rule.stage_bytes = 4096;
    const ProfileWith profile(rule);
    return sums(layout, kind, recipe);
}

Bits sums_on_one_machine(CollectiveKind kind) {
    const ProfileVariable built_in("");
    return sums({kRanks}, kind, "");
}

// The recipes of this kind whose order the document gives in these words.
std::vector<std::string> recipes_in(CollectiveKind kind, const std::string& order) {
    static const std::string kRow = R"(^\| (\w+) \| (\w+) \|.*\| ([^|]+) \| [^|]+ \|$)";
    std::ifstream document(PEAL_SOURCE_DIR "/docs/collectives.md");
    std::vector<std::string> recipes;
    for (std::string line; std::getline(document, line);) {
        for (const auto& row : peal::test::matches(line, kRow)) {
            if (row[1] == name(kind) && row[3] == order) recipes.push_back(row[2]);
        }
    }
    return recipes;
}

class SameBits : public testing::Test {
protected:
    void SetUp() override {
        if (const std::string why = test::why_no_hosts(); !why.empty()) GTEST_SKIP() << why;
    }
};

class SameBitsOf : public SameBits, public testing::WithParamInterface<CollectiveKind> {};

TEST_P(SameBitsOf, AsOnOneMachineWhereTheOrderIsThatOfTheRanks) {
    const Bits expected = sums_on_one_machine(GetParam());
    const std::vector<std::string> recipes = recipes_in(GetParam(), "rank order");
    EXPECT_GE(recipes.size(), 3u);
    for (const std::string& recipe : recipes) {
        if (has_lanes(GetParam(), recipe)) continue;  // for ranks that have several
        for (const std::vector<int>& layout : {std::vector{2, 2}, std::vector{1, 3}}) {
            EXPECT_TRUE(sums_on_hosts(layout, GetParam(), recipe).by_rank == expected.by_rank)
                << recipe << ", " << layout[0] << " ranks on the first host";
        }
    }
}

// Without which the above says nothing.
TEST_F(SameBits, OtherOrdersHaveOtherBits) {
    for (const CollectiveKind kind : {CollectiveKind::allreduce, CollectiveKind::reduce_scatter,
                                      CollectiveKind::reduce_scatter_v}) {
        const Bits expected = sums_on_one_machine(kind);
        const auto recipes = recipes_in(kind, "hosts in order, each in rank order");
        EXPECT_GE(recipes.size(), 1u);
        for (const std::string& recipe : recipes) {
            EXPECT_FALSE(sums_on_hosts({2, 2}, kind, recipe).by_rank == expected.by_rank)
                << name(kind) << " " << recipe;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Hosts, SameBitsOf,
                         testing::Values(CollectiveKind::allreduce, CollectiveKind::reduce_scatter,
                                         CollectiveKind::reduce_scatter_v, CollectiveKind::reduce,
                                         CollectiveKind::scan, CollectiveKind::exscan),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace same_bits_test
}  // namespace peal::hosts
