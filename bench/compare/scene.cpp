// SPDX-License-Identifier: Apache-2.0
#include "scene.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

namespace peal::bench {
namespace {

namespace fs = std::filesystem;

// Other hosts of tools/with-hosts have a /dev/shm of their own.
std::string make_directory(bool on_hosts) {
    const fs::path memory = "/dev/shm";
    const bool in_memory = !on_hosts && access(memory.c_str(), W_OK) == 0;
    const fs::path base = in_memory ? memory : fs::temp_directory_path();
    std::string path = base / "peal-bench-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
        throw std::system_error(errno, std::generic_category(), path);
    }
    return path;
}

sigset_t watched_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) sigaddset(&set, signal);
    return set;
}

std::vector<pid_t> children() {
    std::ifstream list("/proc/self/task/" + std::to_string(getpid()) + "/children");
    std::vector<pid_t> pids;
    for (pid_t pid = 0; list >> pid;) pids.push_back(pid);
    return pids;
}

// As the subreaper we inherit the children of whoever dies, so this ends when nobody is left.
void end_descendants() {
    for (std::vector<pid_t> left = children(); !left.empty(); left = children()) {
        for (const pid_t pid : left) kill(pid, SIGKILL);
        waitpid(-1, nullptr, 0);
    }
}

// The child's status once it has ended; other children that have ended are reaped.
std::optional<int> reap(pid_t child) {
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid != child) continue;
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return std::nullopt;
}

int watch(pid_t child, const sigset_t& signals) {
    for (;;) {
        int signal = 0;
        sigwait(&signals, &signal);
        if (signal != SIGCHLD) return 128 + signal;
        if (const auto status = reap(child)) return *status;
    }
}

}  // namespace

int on_scene(bool on_hosts, const std::function<int(const std::string& directory)>& play) {
    const std::string directory = make_directory(on_hosts);
    const sigset_t signals = watched_signals();
    sigset_t before;
    sigprocmask(SIG_BLOCK, &signals, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigprocmask(SIG_SETMASK, &before, nullptr);
        std::exit(play(directory));
    }
    const int status = child < 0 ? 2 : watch(child, signals);
    end_descendants();
    std::error_code ignored;
    fs::remove_all(directory, ignored);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return status;
}

}  // namespace peal::bench
