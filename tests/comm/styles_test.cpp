// SPDX-License-Identifier: Apache-2.0
// Every collective can be called, started and prepared, with the same arguments and the same
// result.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "peal/communicator.hpp"

namespace peal::comm {
namespace styles_test {

using Buffer = std::vector<std::int32_t>;

// What rank r of 2 gives: 10r + 1, 10r + 2, ...
Buffer given(const Communicator& comm, std::size_t n) {
    Buffer values(n);
    for (std::size_t i = 0; i < n; ++i) {
        values[i] = 10 * comm.rank() + static_cast<std::int32_t>(i) + 1;
    }
    return values;
}

struct Styles {
    std::string name;
    std::size_t inputs = 0, outputs = 0;
    std::function<void(Communicator&, const Buffer&, Buffer&)> call;
    std::function<Pending(Communicator&, const Buffer&, Buffer&)> start;
    std::function<Prepared(Communicator&, const Buffer&, Buffer&)> prepare;
    std::vector<Buffer> expected;  // by rank
};

const std::vector<std::int64_t> kCounts = {1, 1, 1, 1};  // for each pair
const std::vector<std::int64_t> kEach = {1, 1};          // for each rank

std::vector<Styles> all_styles() {
    using C = Communicator;
    using In = const Buffer;
    using Out = Buffer;
    constexpr ReduceOp kSum = ReduceOp::sum;
    return {
        {"allreduce",
         2,
         2,
         [](C& c, In& in, Out& out) { c.allreduce(in, out); },
         [](C& c, In& in, Out& out) { return c.start_allreduce(in, out); },
         [](C& c, In& in, Out& out) { return c.prepare_allreduce(in, out); },
         {{12, 14}, {12, 14}}},
        {"reduce_scatter",
         2,
         1,
         [](C& c, In& in, Out& out) { c.reduce_scatter(in, out); },
         [](C& c, In& in, Out& out) { return c.start_reduce_scatter(in, out); },
         [](C& c, In& in, Out& out) { return c.prepare_reduce_scatter(in, out); },
         {{12}, {14}}},
        {"allgather",
         1,
         2,
         [](C& c, In& in, Out& out) { c.allgather(in, out); },
         [](C& c, In& in, Out& out) { return c.start_allgather(in, out); },
         [](C& c, In& in, Out& out) { return c.prepare_allgather(in, out); },
         {{1, 11}, {1, 11}}},
        {"all_to_all",
         2,
         2,
         [](C& c, In& in, Out& out) { c.all_to_all(in, out); },
         [](C& c, In& in, Out& out) { return c.start_all_to_all(in, out); },
         [](C& c, In& in, Out& out) { return c.prepare_all_to_all(in, out); },
         {{1, 11}, {2, 12}}},
        {"all_to_all_v",
         2,
         2,
         [](C& c, In& in, Out& out) { c.all_to_all_v(in, out, kCounts); },
         [](C& c, In& in, Out& out) { return c.start_all_to_all_v(in, out, kCounts); },
         [](C& c, In& in, Out& out) { return c.prepare_all_to_all_v(in, out, kCounts); },
         {{1, 11}, {2, 12}}},
        {"allgather_v",
         1,
         2,
         [](C& c, In& in, Out& out) { c.allgather_v(in, out, kEach); },
         [](C& c, In& in, Out& out) { return c.start_allgather_v(in, out, kEach); },
         [](C& c, In& in, Out& out) { return c.prepare_allgather_v(in, out, kEach); },
         {{1, 11}, {1, 11}}},
        {"reduce_scatter_v",
         2,
         1,
         [](C& c, In& in, Out& out) { c.reduce_scatter_v(in, out, kEach); },
         [](C& c, In& in, Out& out) { return c.start_reduce_scatter_v(in, out, kEach); },
         [](C& c, In& in, Out& out) { return c.prepare_reduce_scatter_v(in, out, kEach); },
         {{12}, {14}}},
        {"scan",
         2,
         2,
         [](C& c, In& in, Out& out) { c.scan(in, out); },
         [](C& c, In& in, Out& out) { return c.start_scan(in, out); },
         [](C& c, In& in, Out& out) { return c.prepare_scan(in, out); },
         {{1, 2}, {12, 14}}},
        {"exscan",
         2,
         2,
         [](C& c, In& in, Out& out) { c.exscan(in, out, ReduceOp::max); },
         [](C& c, In& in, Out& out) { return c.start_exscan(in, out, ReduceOp::max); },
         [](C& c, In& in, Out& out) { return c.prepare_exscan(in, out, ReduceOp::max); },
         {{1, 2}, {1, 2}}},
        {"scan_in_place",
         0,
         2,
         [](C& c, In&, Out& out) { c.scan(out); },
         [](C& c, In&, Out& out) { return c.start_scan(out); },
         [](C& c, In&, Out& out) { return c.prepare_scan(out); },
         {{1, 2}, {12, 14}}},
        {"exscan_in_place",
         0,
         2,
         [](C& c, In&, Out& out) { c.exscan(out); },
         [](C& c, In&, Out& out) { return c.start_exscan(out); },
         [](C& c, In&, Out& out) { return c.prepare_exscan(out); },
         {{1, 2}, {1, 2}}},
        {"broadcast",
         0,
         2,
         [](C& c, In&, Out& out) { c.broadcast(out, 1); },
         [](C& c, In&, Out& out) { return c.start_broadcast(out, 1); },
         [](C& c, In&, Out& out) { return c.prepare_broadcast(out, 1); },
         {{11, 12}, {11, 12}}},
        {"reduce",
         2,
         2,
         [](C& c, In& in, Out& out) { c.reduce(in, out, kSum, 1); },
         [](C& c, In& in, Out& out) { return c.start_reduce(in, out, kSum, 1); },
         [](C& c, In& in, Out& out) { return c.prepare_reduce(in, out, kSum, 1); },
         {{1, 2}, {12, 14}}},
        {"gather",
         1,
         2,
         [](C& c, In& in, Out& out) { c.gather(in, out, 1); },
         [](C& c, In& in, Out& out) { return c.start_gather(in, out, 1); },
         [](C& c, In& in, Out& out) { return c.prepare_gather(in, out, 1); },
         {{1, 2}, {1, 11}}},
        {"scatter",
         2,
         1,
         [](C& c, In& in, Out& out) { c.scatter(in, out, 1); },
         [](C& c, In& in, Out& out) { return c.start_scatter(in, out, 1); },
         [](C& c, In& in, Out& out) { return c.prepare_scatter(in, out, 1); },
         {{11}, {12}}},
        {"barrier",
         0,
         0,
         [](C& c, In&, Out&) { c.barrier(); },
         [](C& c, In&, Out&) { return c.start_barrier(); },
         [](C& c, In&, Out&) { return c.prepare_barrier(); },
         {{}, {}}},
    };
}

class ThreeStyles : public testing::TestWithParam<Styles> {};

TEST_P(ThreeStyles, HaveOneResult) {
    const Styles& the = GetParam();
    Communicator::threads(2, [&](Communicator& comm) {
        const Buffer& expected = the.expected[static_cast<std::size_t>(comm.rank())];
        const Buffer input = given(comm, the.inputs);
        Buffer called = given(comm, the.outputs), started = called, prepared = called;
        the.call(comm, input, called);
        the.start(comm, input, started).wait();
        the.prepare(comm, input, prepared).run();
        EXPECT_EQ(called, expected);
        EXPECT_EQ(started, expected);
        EXPECT_EQ(prepared, expected);
    });
}

INSTANTIATE_TEST_SUITE_P(Of, ThreeStyles, testing::ValuesIn(all_styles()),
                         [](const auto& info) { return info.param.name; });

}  // namespace styles_test
}  // namespace peal::comm
