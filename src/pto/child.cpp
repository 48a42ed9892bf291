// SPDX-License-Identifier: Apache-2.0
#include "pto/child.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "pto/descriptor.hpp"

namespace peal::pto {
namespace {

using Deadline = std::function<ChildClock::time_point()>;

[[noreturn]] void become_child(pid_t parent, int descriptor, const std::function<void(int)>& body) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGALRM}) ::signal(signal, SIG_DFL);
    body(descriptor);
    _exit(0);
}

// Reads until the child has closed its end. Returns false at the deadline.
bool listen(int descriptor, const Deadline& deadline, std::string& said) {
    std::array<char, 1 << 16> buffer;
    while (true) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline() - ChildClock::now()).count();
        if (left <= 0) return false;
        pollfd wait{descriptor, POLLIN, 0};
        const int ready = poll(&wait, 1, static_cast<int>(std::min<long long>(left, 60'000)));
        if (ready < 0 && errno != EINTR) return true;
        if (ready <= 0) continue;
        const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
        if (got == 0) return true;
        if (got > 0) said.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace

void say(int descriptor, const void* data, std::size_t bytes) {
    const auto* next = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t done = ::write(descriptor, next, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return;
        next += done;
        bytes -= static_cast<std::size_t>(done);
    }
}

ChildEnd run_in_child(const std::function<void(int)>& body, const Deadline& deadline) {
    Channel channel;
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
        throw Error(Fault::resource, fmt::format("no child process: {}", std::strerror(errno)));
    }
    if (child == 0) {
        channel.reader.close();
        become_child(parent, channel.writer.get(), body);
    }
    setpgid(child, child);
    channel.writer.close();
    ChildEnd end;
    end.timed_out = !listen(channel.reader.get(), deadline, end.said);
    // Whatever the kernel started ends with it.
    if (end.timed_out) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    kill(-child, SIGKILL);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
    return end;
}

}  // namespace peal::pto
