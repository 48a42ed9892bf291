// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>

namespace peal::bench {
namespace {

[[noreturn]] void become(std::vector<char*> words, const char* log) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    const int in = open("/dev/null", O_RDONLY);
    const int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execvp(words[0], words.data());
    std::perror(words[0]);
    _exit(127);
}

}  // namespace

pid_t spawn(const std::vector<std::string>& command, const std::string& log) {
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const pid_t pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) become(std::move(words), log.c_str());
    setpgid(pid, pid);
    return pid;
}

bool has_ended(pid_t pid, int milliseconds) {
    constexpr int kStep = 5;
    for (int waited = 0;; waited += kStep) {
        siginfo_t info{};
        const int result =
            waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
        if (result != 0 || info.si_pid == pid) return true;
        if (waited >= milliseconds) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(kStep));
    }
}

void end_group(pid_t leader) {
    kill(-leader, SIGKILL);
    waitpid(leader, nullptr, 0);
}

}  // namespace peal::bench
