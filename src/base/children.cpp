// SPDX-License-Identifier: Apache-2.0
#include "base/children.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "base/file.hpp"

namespace peal::base {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The parent is the second word behind the name, which stands in brackets and may have any letters.
pid_t parent_of(const std::filesystem::path& process) {
    const std::string text = text_if_there(process / "stat");
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos || name_end + 4 > text.size()) return 0;
    pid_t parent = 0;
    std::from_chars(text.data() + name_end + 4, text.data() + text.size(), parent);
    return parent;
}

std::vector<pid_t> children() {
    std::vector<pid_t> found;
    std::error_code ignored;  // a process may go while it is looked at
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const std::string name = entry.path().filename();
        pid_t pid = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (error != std::errc() || end != name.data() + name.size()) continue;
        if (parent_of(entry.path()) == getpid()) found.push_back(pid);
    }
    return found;
}

// False when there are no children.
bool reap_dead() {
    pid_t pid = 0;
    do {
        pid = waitpid(-1, nullptr, WNOHANG);
    } while (pid > 0 || (pid < 0 && errno == EINTR));
    return pid == 0;
}

// Until one of them ends, or the deadline. They are not reaped, so the numbers are still theirs.
void await_one(const std::vector<pid_t>& pids, SteadyClock::time_point deadline) {
    std::vector<pollfd> watched;
    for (const pid_t pid : pids) {
        watched.push_back({pidfd_of(pid), POLLIN, 0});
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    constexpr std::int64_t kLongest = std::numeric_limits<int>::max();
    poll(watched.data(), watched.size(),
         static_cast<int>(std::clamp<std::int64_t>(left, 0, kLongest)));
    for (const pollfd& one : watched) close(one.fd);
}

}  // namespace

int pidfd_of(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void end_children(std::chrono::milliseconds grace) {
    constexpr std::chrono::milliseconds kKilled{1000};  // looks again: others may have come
    const SteadyClock::time_point deadline = SteadyClock::now() + grace;
    while (reap_dead()) {
        const std::vector<pid_t> pids = children();
        if (SteadyClock::now() < deadline) {
            await_one(pids, deadline);
            continue;
        }
        if (pids.empty()) return;  // there is no /proc
        for (const pid_t pid : pids) kill(pid, SIGKILL);
        await_one(pids, SteadyClock::now() + kKilled);
    }
}

}  // namespace peal::base
