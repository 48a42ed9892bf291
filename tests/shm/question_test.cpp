// SPDX-License-Identifier: Apache-2.0
#include "shm/question.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace peal::shm {
namespace question_test {

// How a process ends that takes questions, does `body` and then exits with 7.
int status_after(const std::function<void()>& before, const std::function<void()>& body) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        before();
        take_questions();
        body();
        _exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const std::function<void()> kByDefault = [] { std::signal(SIGQUIT, SIG_DFL); };
const std::function<void()> kIgnored = [] { std::signal(SIGQUIT, SIG_IGN); };

void expect(bool holds) {
    if (!holds) _exit(1);
}

TEST(Question, IsTakenOnceByWhoeverAnswers) {
    const auto ask_twice = [] {
        expect(!take_question());
        for (int i = 0; i < 2; ++i) {
            raise(SIGQUIT);
            expect(take_question() && !take_question());
        }
    };
    EXPECT_EQ(status_after(kByDefault, ask_twice), 7);
    EXPECT_EQ(status_after(kIgnored, ask_twice), 7);
}

TEST(Question, WhereNobodyAnswersTheNextDoesWhatItDidBefore) {
    const auto ask_in_vain = [] {
        raise(SIGQUIT);
        raise(SIGQUIT);
    };
    EXPECT_EQ(status_after(kByDefault, ask_in_vain), 128 + SIGQUIT);
    EXPECT_EQ(status_after(kIgnored, ask_in_vain), 7);
}

TEST(Question, WhatTheProgramHandlesStaysItsOwn) {
    const auto handle = [] { std::signal(SIGQUIT, [](int) { _exit(3); }); };
    EXPECT_EQ(status_after(handle, [] { raise(SIGQUIT); }), 3);
}

}  // namespace question_test
}  // namespace peal::shm
