// SPDX-License-Identifier: Apache-2.0
#include "shm/deadline.hpp"

#include <gtest/gtest.h>

namespace peal::shm {
namespace deadline_test {

using namespace std::chrono;
using Time = steady_clock::time_point;

TEST(Deadline, IsSoMuchLater) {
    EXPECT_EQ(after(Time(seconds(5)), milliseconds(20)), Time(milliseconds(5020)));
    EXPECT_EQ(after(Time(seconds(5)), hours(1)), Time(seconds(3605)));
}

TEST(Deadline, IsNeverIfItIsLaterThanTheClockCanSay) {
    const Time now = steady_clock::now();
    EXPECT_EQ(after(now, milliseconds::max()), Time::max());
    EXPECT_EQ(after(now, nanoseconds::max()), Time::max());
    EXPECT_EQ(after(now, hours::max()), Time::max());
    EXPECT_EQ(from_now(duration<std::int64_t, std::ratio<86400>>::max()), Time::max());
}

TEST(Deadline, IsNotBeforeItsStart) {
    const Time now = steady_clock::now();
    EXPECT_EQ(after(now, milliseconds::min()), now);
    EXPECT_EQ(after(now, milliseconds(-1)), now);
    EXPECT_EQ(after(Time::max(), milliseconds(1)), Time::max());
}

}  // namespace deadline_test
}  // namespace peal::shm
