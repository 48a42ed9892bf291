// SPDX-License-Identifier: Apache-2.0
#include "shm/topology.hpp"

#include <gtest/gtest.h>

#include "shm/made_up_root.hpp"

namespace peal::shm {
namespace topology_test {

using TopologyOfTheMachine = MadeUpRoot;

TEST_F(TopologyOfTheMachine, HyperThreadsAndNodes) {
    write("sys/devices/system/cpu/online", "0-5,8\n");
    for (const char* core : {"0", "4"}) siblings(core, "0,4\n");
    for (const char* core : {"1", "5"}) siblings(core, "1,5\n");
    for (const char* core : {"2", "3"}) siblings(core, "2-3\n");
    siblings("8", "8\n");
    write("sys/devices/system/node/online", "0-1\n");
    write("sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
    write("sys/devices/system/node/node1/cpulist", "2-3,8\n");
    const Topology topology = topology_of_machine(root_);
    for (const int a : {0, 1, 2, 3, 4, 5, 8}) {
        for (const int b : {0, 1, 2, 3, 4, 5, 8}) {
            const auto is_pair = [&](int x, int y) {
                return (a == x && b == y) || (a == y && b == x);
            };
            const auto is_second = [](int core) { return core == 2 || core == 3 || core == 8; };
            EXPECT_EQ(topology.same_physical(a, b),
                      a == b || is_pair(0, 4) || is_pair(1, 5) || is_pair(2, 3))
                << a << " " << b;
            EXPECT_EQ(topology.same_node(a, b), is_second(a) == is_second(b)) << a << " " << b;
        }
    }
}

// A container without /sys, or a kernel without nodes.
TEST_F(TopologyOfTheMachine, WhatIsNotToldIsNotShared) {
    const Topology nothing = topology_of_machine(root_);
    EXPECT_TRUE(nothing.same_physical(3, 3));
    EXPECT_TRUE(nothing.same_node(3, 3));
    EXPECT_FALSE(nothing.same_physical(0, 1));
    EXPECT_FALSE(nothing.same_node(0, 1));

    write("sys/devices/system/cpu/online", "0-1\n");
    siblings("0", "0-1\n");
    siblings("1", "0-1\n");
    const Topology threads = topology_of_machine(root_);
    EXPECT_TRUE(threads.same_physical(0, 1));
    EXPECT_FALSE(threads.same_node(0, 1));
}

TEST_F(TopologyOfTheMachine, WhatCannotBeReadIsPassedOver) {
    write("sys/devices/system/cpu/online", "0-1,nonsense\n");
    siblings("0", "99999999999\n");
    siblings("1", "\n");
    write("sys/devices/system/node/online", "0\n");
    write("sys/devices/system/node/node0/cpulist", "0-7\n");
    const Topology topology = topology_of_machine(root_);
    EXPECT_FALSE(topology.same_physical(0, 1));
    EXPECT_TRUE(topology.same_node(0, 1));
    EXPECT_FALSE(topology.same_node(0, 7)) << "it is not online";
}

TEST(TopologyOfThisMachine, CanBeAsked) {
    const Topology topology = topology_of_machine();
    EXPECT_TRUE(topology.same_physical(0, 0));
}

}  // namespace topology_test
}  // namespace peal::shm
