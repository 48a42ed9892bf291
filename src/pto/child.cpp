// SPDX-License-Identifier: Apache-2.0
// Between us and the child stands a warden. What the child starts becomes the warden's when its own
// parent ends, so the warden can end all of it. It does so when the child has ended, or when its
// leash is dropped: a pipe whose other end we hold, and lose when we end ourselves.
#include "pto/child.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <limits>

#include <fmt/format.h>

#include "base/children.hpp"
#include "peal/error.hpp"
#include "peal/watch.hpp"
#include "pto/channel.hpp"

namespace peal::pto {
namespace {

using std::chrono::milliseconds;

constexpr int kLookMilliseconds = 10;     // where the system has no pidfd
constexpr milliseconds kToEndAll{2'000};  // for the warden, after the leash is dropped

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

// ---------------------------------------------------------------------------- the child

// A kernel is somebody's program: the files that this process has open are none of its business.
void close_all_but(int descriptor) {
    const auto kept = static_cast<unsigned>(descriptor);
    if (kept > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, kept - 1, 0);
    close_range(kept + 1, std::numeric_limits<unsigned>::max(), 0);
}

[[noreturn]] void become_child(pid_t parent, int descriptor, const std::function<void(int)>& body) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    close_all_but(descriptor);
    body(descriptor);
    _exit(0);
}

// ---------------------------------------------------------------------------- the warden

// What it reports.
struct Outcome {
    int error = 0;   // no child could be made
    int status = 0;  // as waitpid gives it
};

// Until it has ended, or the leash is dropped.
int watch(pid_t child, int leash) {
    const base::Descriptor pidfd(base::pidfd_of(child));
    while (true) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) return status;
        std::array<pollfd, 2> waits = {{{leash, POLLIN, 0}, {pidfd.get(), POLLIN, 0}}};
        poll(waits.data(), waits.size(), pidfd.get() < 0 ? kLookMilliseconds : -1);
        if (waits[0].revents == 0) continue;
        kill(child, SIGKILL);
        return wait_for(child);
    }
}

struct Post {
    Channel leash;    // to the warden
    Channel speech;   // from the child
    Channel outcome;  // from the warden
};

[[noreturn]] void become_warden(Post& post, const std::function<void(int)>& body) {
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGALRM}) ::signal(signal, SIG_DFL);
    setpgid(0, 0);
    base::adopt_orphans();
    post.leash.writer.reset();
    post.speech.reader.reset();
    post.outcome.reader.reset();
    const pid_t self = getpid();
    Outcome outcome;
    const pid_t child = fork();
    if (child == 0) {
        post.leash.reader.reset();
        post.outcome.writer.reset();
        become_child(self, post.speech.writer.get(), body);
    }
    post.speech.writer.reset();
    if (child < 0) {
        outcome.error = errno;
    } else {
        outcome.status = watch(child, post.leash.reader.get());
        kill(-child, SIGKILL);
        base::end_children({});
    }
    say(post.outcome.writer.get(), &outcome, sizeof(outcome));
    _exit(0);
}

// ---------------------------------------------------------------------------- we

enum class Ending : bool { allowed, not_now };  // by a watch

// Waits for the descriptor until the deadline. Returns false then.
bool wait_until(int descriptor, const std::function<ChildClock::time_point()>& deadline,
                Ending may_be_ended) {
    while (true) {
        const auto left = std::chrono::ceil<milliseconds>(deadline() - ChildClock::now()).count();
        if (left <= 0) return false;
        const long long most = Watch::is_set() ? Watch::kInterval.count() : 60'000;
        pollfd wait{descriptor, POLLIN, 0};
        const int ready = poll(&wait, 1, static_cast<int>(std::min<long long>(left, most)));
        if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
        if (may_be_ended == Ending::allowed) Watch::look_up();
    }
}

// Reads until nobody can say more, or a limit is reached.
void listen(int descriptor, const ChildLimits& limits, ChildEnd& end) {
    std::array<char, 1 << 16> buffer;
    while (true) {
        if (!wait_until(descriptor, limits.deadline, Ending::allowed)) {
            end.timed_out = true;
            return;
        }
        const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
        if (got == 0 || (got < 0 && errno != EINTR)) return;
        if (got > 0) end.said.append(buffer.data(), static_cast<std::size_t>(got));
        end.said_too_much = end.said.size() > limits.most(end.said);
        if (end.said_too_much) return;
    }
}

// A warden that says nothing was ended itself.
Outcome wait_for_warden(pid_t warden, Post& post, const ChildLimits& limits, ChildEnd& end) {
    const int outcome = post.outcome.reader.get();
    const bool is_over = !end.timed_out && !end.said_too_much;
    if (is_over && !wait_until(outcome, limits.deadline, Ending::not_now)) end.timed_out = true;
    post.leash.writer.reset();
    const auto last = ChildClock::now() + kToEndAll;
    Outcome said{0, SIGKILL};
    if (wait_until(
            outcome, [&] { return last; }, Ending::not_now)) {
        const ssize_t got = ::read(outcome, &said, sizeof(said));
        if (got != sizeof(said)) said = {0, SIGKILL};
    }
    kill(-warden, SIGKILL);
    kill(warden, SIGKILL);
    wait_for(warden);
    return said;
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

ChildEnd run_in_child(const std::function<void(int)>& body, const ChildLimits& limits) {
    Post post;
    const pid_t warden = fork();
    if (warden < 0) {
        throw Error(Fault::resource, fmt::format("no child process: {}", std::strerror(errno)));
    }
    if (warden == 0) become_warden(post, body);
    setpgid(warden, warden);
    post.leash.reader.reset();
    post.speech.writer.reset();
    post.outcome.writer.reset();
    ChildEnd end;
    std::exception_ptr ended;
    try {
        listen(post.speech.reader.get(), limits, end);
    } catch (...) {
        ended = std::current_exception();
        end.timed_out = true;
    }
    const Outcome outcome = wait_for_warden(warden, post, limits, end);
    if (ended) std::rethrow_exception(ended);
    if (outcome.error != 0) {
        throw Error(Fault::resource,
                    fmt::format("no child process: {}", std::strerror(outcome.error)));
    }
    if (WIFSIGNALED(outcome.status)) end.signal = WTERMSIG(outcome.status);
    if (WIFEXITED(outcome.status)) end.status = WEXITSTATUS(outcome.status);
    return end;
}

}  // namespace peal::pto
