// SPDX-License-Identifier: Apache-2.0
#include "cli/front.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/children.hpp"
#include "peal/error.hpp"
#include "shm/signal_gate.hpp"

namespace peal::cli {
namespace {

constexpr int kSignalled = 128;  // and the number of the signal

[[noreturn]] void refuse() {
    throw Error(Fault::resource, fmt::format("launch: cannot start a process for the ranks: {}",
                                             std::strerror(errno)));
}

// Reaps all that is dead; true if the child is among them, or is nowhere.
bool reap_until(pid_t child, int& status) {
    for (;;) {
        int found = 0;
        const pid_t pid = waitpid(-1, &found, WNOHANG);
        if (pid < 0 && errno == EINTR) continue;
        if (pid == 0) return false;
        if (pid > 0 && pid != child) continue;
        status = found;
        return true;
    }
}

// Looks before it waits: the child may be dead before there is a gate.
int status_of(pid_t child) {
    const shm::SignalGate gate(shm::SignalGate::Children::too);
    int status = 0;
    while (!reap_until(child, status)) {
        pollfd signals = {gate.descriptor(), POLLIN, 0};
        poll(&signals, 1, -1);
        while (const auto signal = gate.next()) {
            if (signal.number != SIGCHLD && !signal.is_from_terminal) kill(child, signal.number);
        }
    }
    return status;
}

int stand_before(pid_t child) {
    const int status = status_of(child);
    base::end_children({});
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    const int signal = WTERMSIG(status);
    fmt::print(
        stderr,
        "peal: launch: the process that looks after the ranks was killed by signal {} ({})\n",
        signal, strsignal(signal));
    return kSignalled + signal;
}

}  // namespace

int run_behind_front(const std::function<int(int front)>& body) {
    const pid_t front = getpid();
    base::adopt_orphans();
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) refuse();
    if (child > 0) return stand_before(child);
    const int descriptor = base::pidfd_of(front);
    if (descriptor < 0) refuse();
    if (getppid() != front) std::_Exit(kSignalled + SIGKILL);  // it is gone already
    const int status = body(descriptor);
    close(descriptor);
    return status;
}

}  // namespace peal::cli
