// SPDX-License-Identifier: Apache-2.0
#include "noise.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace peal::bench {
namespace {

void stay_on_the_first_core() {
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) return;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (!CPU_ISSET(core, &mask)) continue;
        CPU_ZERO(&mask);
        CPU_SET(core, &mask);
        sched_setaffinity(0, sizeof mask, &mask);
        return;
    }
}

[[noreturn]] void spin(bool pinned) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (pinned) stay_on_the_first_core();
    for (volatile unsigned long count = 0;;) count = count + 1;
}

}  // namespace

Noise::Noise(int processes, bool pinned) {
    for (int i = 0; i < processes; ++i) {
        const pid_t pid = fork();
        if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (pid == 0) spin(pinned && i == 0);
        pids_.push_back(pid);
    }
}

Noise::~Noise() {
    for (const pid_t pid : pids_) kill(pid, SIGKILL);
    for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
}

}  // namespace peal::bench
