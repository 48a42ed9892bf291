// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "peal/check.hpp"

namespace peal::checker {
namespace tell_if_slow_test {

TEST(TellIfSlow, TellsOnceAfterFiveSeconds) {
    const auto tell = tell_if_slow("kernel a, b", 60);
    CheckProgress progress;
    testing::internal::CaptureStderr();
    for (const double seconds : {1.0, 4.9, 5.1, 6.0, 7.0}) {
        progress.seconds = seconds;
        tell(progress);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "peal: kernel a, b is being proved; that takes 60 s at most\n");
}

}  // namespace tell_if_slow_test
}  // namespace peal::checker
