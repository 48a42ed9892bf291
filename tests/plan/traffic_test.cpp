// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "peal/plan.hpp"
#include "plan/support.hpp"

namespace peal::plan {
namespace traffic_test {

using namespace peal::testing;

TEST(PlanTraffic, CountsEveryPassOverMemory) {
    const Traffic total = traffic(sample_plan());
    EXPECT_EQ(total.bytes_read, 64u + 2 * 64 + 64 + 64);          // copies, reduce, mul_scalar
    EXPECT_EQ(total.bytes_written, 64u + 64 + 64 + 64 + 64 + 4);  // and fills
    EXPECT_EQ(total.remote_bytes_read, 2u * 64);
    EXPECT_EQ(total.remote_bytes_written, 64u);  // the copy that is deferred
    EXPECT_EQ(total.notifies, 2u);
    EXPECT_EQ(total.waits, 1u);
}

TEST(PlanTraffic, WritesToPeersAreRemote) {
    Plan plan = sample_plan();
    plan.instructions = {{Copy{{kData, 0, 16, 32}, {kInp, 1, 0, 32}}, Pipe::none, 0}};
    const Traffic total = traffic(plan);
    EXPECT_EQ(total.remote_bytes_written, 32u);
    EXPECT_EQ(total.remote_bytes_read, 0u);
}

TEST(PlanTraffic, AnAccumulateReadsWhatItAddsTo) {
    Plan plan = sample_plan();
    plan.instructions = {
        {Accumulate{Element::f32, {kData, 0, 16, 32}, {kInp, 1, 0, 32}}, Pipe::none, 0}};
    const Traffic total = traffic(plan);
    EXPECT_EQ(total.bytes_read, 64u);
    EXPECT_EQ(total.bytes_written, 32u);
    EXPECT_EQ(total.remote_bytes_read, 32u);
    EXPECT_EQ(total.remote_bytes_written, 32u);
}

TEST(PlanTraffic, TilesAreNeverRemote) {
    Plan plan = sample_plan();
    plan.rank = 2;
    plan.instructions = {{Map{MapOp::fill, Element::f32, 0, {kTile, 0, 0, 64}, {}}, Pipe::none, 0}};
    EXPECT_EQ(traffic(plan).remote_bytes_written, 0u);
}

}  // namespace traffic_test
}  // namespace peal::plan
