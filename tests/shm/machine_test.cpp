// SPDX-License-Identifier: Apache-2.0
#include "shm/machine.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "shm/made_up_root.hpp"

namespace peal::shm {
namespace machine_test {

namespace fs = std::filesystem;

constexpr std::uint64_t kMebibyte = 1 << 20;

std::string mebibytes(std::uint64_t n) { return std::to_string(n * kMebibyte); }

class MemoryOfTheMachine : public MadeUpRoot {
protected:
    void SetUp() override {
        MadeUpRoot::SetUp();
        write("proc/meminfo", "MemTotal:  8388608 kB\nMemAvailable:  4194304 kB\n");
    }
};

TEST_F(MemoryOfTheMachine, IsWhatIsAvailableWhereNoGroupBoundsIt) {
    EXPECT_EQ(available_memory_bytes(root_), 4096 * kMebibyte);
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/memory.max", "max\n");
    write("sys/fs/cgroup/memory.current", mebibytes(100));
    EXPECT_EQ(available_memory_bytes(root_), 4096 * kMebibyte);
    EXPECT_EQ(cgroup_memory_left(root_), kNoLimit);
}

TEST_F(MemoryOfTheMachine, IsWhatAGroupOfVersion2HasLeft) {
    write("proc/self/cgroup", "0::/jobs/mine\n");
    write("sys/fs/cgroup/jobs/mine/memory.max", mebibytes(300));
    write("sys/fs/cgroup/jobs/mine/memory.current", mebibytes(120));
    EXPECT_EQ(available_memory_bytes(root_), 180 * kMebibyte);
}

TEST_F(MemoryOfTheMachine, IsWhatAGroupOfVersion1HasLeft) {
    write("proc/self/cgroup", "5:cpu,cpuacct:/\n4:hugetlb,memory:/jobs/mine\n0::/other\n");
    write("sys/fs/cgroup/memory/jobs/mine/memory.limit_in_bytes", mebibytes(300));
    write("sys/fs/cgroup/memory/jobs/mine/memory.usage_in_bytes", mebibytes(50));
    EXPECT_EQ(available_memory_bytes(root_), 250 * kMebibyte);
}

TEST_F(MemoryOfTheMachine, IsBoundedByTheTightestGroupAbove) {
    write("proc/self/cgroup", "0::/jobs/mine/part\n");
    for (const auto& [group, limit] : {std::pair{"", 1000}, {"jobs/", 200}, {"jobs/mine/", 900}}) {
        const std::string path = std::string("sys/fs/cgroup/") + group;
        write(path + "memory.max", mebibytes(limit));
        write(path + "memory.current", mebibytes(60));
    }
    EXPECT_EQ(available_memory_bytes(root_), 140 * kMebibyte);
}

TEST_F(MemoryOfTheMachine, CountsFilePagesAsFree) {
    write("proc/self/cgroup", "4:memory:/a\n0::/b\n");
    write("sys/fs/cgroup/b/memory.max", mebibytes(300));
    write("sys/fs/cgroup/b/memory.current", mebibytes(290));
    write("sys/fs/cgroup/b/memory.stat", "anon 20971520\nfile " + mebibytes(250) +
                                             "\ninactive_file " + mebibytes(200) +
                                             "\nactive_file " + mebibytes(30) + "\n");
    EXPECT_EQ(available_memory_bytes(root_), 240 * kMebibyte);
    write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", mebibytes(100));
    write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", mebibytes(100));
    write("sys/fs/cgroup/memory/a/memory.stat", "inactive_file 7\ntotal_inactive_file " +
                                                    mebibytes(40) + "\ntotal_active_file " +
                                                    mebibytes(2) + "\n");
    EXPECT_EQ(available_memory_bytes(root_), 42 * kMebibyte);
}

TEST_F(MemoryOfTheMachine, IsNoneInAGroupThatIsFull) {
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/memory.max", mebibytes(100));
    write("sys/fs/cgroup/memory.current", mebibytes(101));
    EXPECT_EQ(available_memory_bytes(root_), 0u);
}

// In a container the path may be the host's, while the container's own group is the mount.
TEST_F(MemoryOfTheMachine, IsThatOfTheMountWhereThePathIsNotThere) {
    write("proc/self/cgroup", "0::/docker/0123\n");
    write("sys/fs/cgroup/memory.max", mebibytes(64));
    write("sys/fs/cgroup/memory.current", mebibytes(14));
    EXPECT_EQ(available_memory_bytes(root_), 50 * kMebibyte);
}

}  // namespace machine_test
}  // namespace peal::shm
