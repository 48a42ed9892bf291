// SPDX-License-Identifier: Apache-2.0
#include "peal/watch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace peal {
namespace watch_test {

struct Pressed : std::runtime_error {
    Pressed() : std::runtime_error("pressed") {}
};

// Work that looks up until somebody ends it.
void work() {
    while (true) Watch::look_up();
}

TEST(Watch, EndsWork) {
    EXPECT_FALSE(Watch::is_set());
    Watch::look_up();  // nobody to ask
    {
        int looks = 0;
        const Watch watch([&] {
            if (++looks == 3) throw Pressed();
        });
        EXPECT_TRUE(Watch::is_set());
        EXPECT_THROW(work(), Pressed);
        EXPECT_EQ(looks, 3);
    }
    EXPECT_FALSE(Watch::is_set());
}

TEST(Watch, LastOneMadeCounts) {
    const Watch outer([] { throw std::logic_error("not mine"); });
    {
        const Watch inner([] { throw Pressed(); });
        EXPECT_THROW(work(), Pressed);
    }
    EXPECT_THROW(work(), std::logic_error);
}

TEST(Watch, IsForItsThreadAndItsProcess) {
    const Watch watch([] { throw Pressed(); });
    bool is_set = true;
    std::thread([&] { is_set = Watch::is_set(); }).join();
    EXPECT_FALSE(is_set);
    const pid_t child = fork();
    if (child == 0) {
        std::this_thread::sleep_for(2 * Watch::kInterval);
        Watch::look_up();  // would throw
        _exit(7);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace watch_test
}  // namespace peal
