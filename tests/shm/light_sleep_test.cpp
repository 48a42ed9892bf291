// SPDX-License-Identifier: Apache-2.0
#include "shm/light_sleep.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "shm/supervise.hpp"

namespace peal::shm {
namespace light_sleep_test {

// Of this thread, in nanoseconds; 0 where the system does not say.
std::uint64_t slice() {
    char attributes[48] = {};
    if (syscall(SYS_sched_getattr, 0, attributes, sizeof attributes, 0) != 0) return 0;
    std::uint64_t found = 0;
    std::memcpy(&found, attributes + 24, sizeof found);
    return found;
}

TEST(LightSleep, IsOverWhenItEnds) {
    const std::uint64_t before = slice();
    {
        const LightSleep light;
        if (slice() == before) GTEST_SKIP() << "the system knows no slices";
        EXPECT_EQ(slice(), 100'000u);
    }
    EXPECT_EQ(slice(), before);
}

TEST(LightSleep, IsNotTheRanks) {
    const std::uint64_t before = slice();
    Supervisor supervisor(World::create(1));
    supervisor.start([&] { return slice() == before ? 0 : 1; });
    EXPECT_EQ(supervisor.wait().status, 0);
}

}  // namespace light_sleep_test
}  // namespace peal::shm
