// SPDX-License-Identifier: Apache-2.0
// peal launch at a terminal: what it says, and what Ctrl-C and Ctrl-\ do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>

#include "cli/document.hpp"

namespace peal::test {
namespace terminal_test {

// A job of two ranks that wait for each other, and a terminal that shows all they print.
class Job {
public:
    Job() {
        const pid_t child = forkpty(&terminal_, nullptr, nullptr, nullptr);
        if (child == 0) become_launcher();
        child_ = child;
    }
    ~Job() { close(terminal_); }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    void press(char key) const { ASSERT_EQ(write(terminal_, &key, 1), 1); }

    // Reads until the text has been printed so often, or all is over.
    void read_until(const std::string& text, int times) {
        while (count(text) < times && read_some()) {
        }
        ASSERT_EQ(count(text), times) << printed_;
    }

    int status() {
        while (read_some()) {
        }
        int status = 0;
        waitpid(child_, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

    // But for what the calls log.
    std::vector<std::string> lines() const {
        auto lines = lines_of(printed_);
        const auto is_log = [](const std::string& line) {
            return line.rfind("peal: rank ", 0) == 0;
        };
        lines.erase(std::remove_if(lines.begin(), lines.end(), is_log), lines.end());
        return lines;
    }

private:
    [[noreturn]] static void become_launcher() {
        termios settings = {};
        tcgetattr(STDIN_FILENO, &settings);
        settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &settings);
        setenv("PEAL_LOG", "calls", 1);  // which tells when the ranks have met
        if (chdir(PEAL_EXAMPLES) == 0) {
            execl(PEAL_BINARY, "peal", "launch", "-n", "2", "./faults", "hang", nullptr);
        }
        _exit(127);
    }

    bool read_some() {
        char piece[4096];
        const ssize_t bytes = read(terminal_, piece, sizeof piece);
        if (bytes <= 0) return false;
        for (const char c : std::string(piece, static_cast<std::size_t>(bytes))) {
            if (c != '\r') printed_ += c;
        }
        return true;
    }
    int count(const std::string& text) const {
        int found = 0;
        for (std::size_t at = 0; (at = printed_.find(text, at)) != std::string::npos; ++at) ++found;
        return found;
    }

    int terminal_ = -1;
    pid_t child_ = -1;
    std::string printed_;
};

const std::vector<std::string> kWelcome = {
    "peal: launch: Ctrl-\\ shows who waits for whom; so does Ctrl-C, before it ends the ranks"};
const std::vector<std::string> kReport = {
    "peal: launch: who waits for whom:",
    "  rank 0: in recv of 1 f32 from rank 1, at faults.cpp:72",
    "    instruction 0  wait signal[0] >= 1",
    "    sees 0, waits for rank 1",
    "  rank 1: in recv of 1 f32 from rank 0, at faults.cpp:72",
    "    instruction 0  wait signal[0] >= 1",
    "    sees 0, waits for rank 0"};

std::vector<std::string> joined(const std::vector<std::vector<std::string>>& parts) {
    std::vector<std::string> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

TEST(Terminal, CtrlBackslashAsksAndCtrlCAsksAndEnds) {
    Job job;
    job.read_until(": call 0: ", 2);  // both look for a message now, or are about to
    job.press('\x1c');
    job.read_until("    sees 0, waits for rank ", 2);
    job.press('\x1c');
    job.read_until("    sees 0, waits for rank ", 4);
    job.press('\x03');
    EXPECT_EQ(job.status(), 128 + SIGINT);
    const auto ended = [](int rank) {
        return std::vector<std::string>{"peal: launch: rank " + std::to_string(rank) +
                                        " was killed by signal 2 (Interrupt)"};
    };
    EXPECT_THAT(job.lines(),
                ::testing::AnyOf(joined({kWelcome, kReport, kReport, kReport, ended(0)}),
                                 joined({kWelcome, kReport, kReport, kReport, ended(1)})));
}

}  // namespace terminal_test
}  // namespace peal::test
