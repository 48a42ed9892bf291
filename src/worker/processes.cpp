// SPDX-License-Identifier: Apache-2.0
// Devices that are processes, forked from a program that may have many threads. A child keeps
// nothing of the program but its memory: no descriptors, no signal handlers, no blocked signals.
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "base/children.hpp"
#include "peal/error.hpp"
#include "shm/futex.hpp"
#include "worker/device.hpp"
#include "worker/device_crew.hpp"

namespace peal::worker {
namespace {

constexpr int kFirstDescriptor = 3;  // behind the standard streams

void close_all_but(int kept) {
    if (kept > kFirstDescriptor) {
        close_range(kFirstDescriptor, static_cast<unsigned>(kept) - 1, 0);
    }
    close_range(static_cast<unsigned>(kept) + 1, UINT_MAX, 0);
}

// What a terminal sends to everybody is for the host program to decide about.
void forget_signal_handlers() {
    for (int signal = 1; signal < NSIG; ++signal) {
        if (signal == SIGINT) {
            std::signal(signal, SIG_IGN);
        } else if (signal != SIGKILL && signal != SIGSTOP) {
            std::signal(signal, SIG_DFL);
        }
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become_device(const Arena& arena, pid_t host, int rank, int number,
                                int host_bell) noexcept {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != host) _exit(1);  // it was gone before the line above
    prctl(PR_SET_NAME, fmt::format("peal-device-{}", number).c_str());
    forget_signal_handlers();
    close_all_but(host_bell);
    shm::accept_foreign_fences();
    Device(arena, rank, host_bell).run();
    _exit(0);
}

class Processes : public DeviceCrew {
public:
    Processes(const Arena& arena, const std::vector<int>& numbers, int host_bell) {
        const pid_t host = getpid();
        for (int rank = 0; rank < arena.devices(); ++rank) {
            const pid_t pid = fork();
            if (pid == 0) {
                become_device(arena, host, rank, numbers[static_cast<std::size_t>(rank)],
                              host_bell);
            }
            const auto descriptor = pid < 0 ? -1 : base::pidfd_of(pid);
            if (descriptor < 0) {
                const int error = errno;
                if (pid > 0) kill_and_reap(pid);
                end(shm::Clock::now());
                throw Error(Fault::resource,
                            fmt::format("cannot start device {} of {} as a process: {}", rank,
                                        arena.devices(), std::strerror(error)));
            }
            children_.push_back({pid, descriptor});
        }
    }
    ~Processes() override { end(shm::Clock::now()); }

    std::vector<int> descriptors() const override {
        std::vector<int> all;
        for (const Child& child : children_) all.push_back(child.descriptor);
        return all;
    }

    int process_of(int rank) const override {
        return children_[static_cast<std::size_t>(rank)].pid;
    }

    std::string how_it_ended(int rank) override {
        const int status = reap(children_[static_cast<std::size_t>(rank)]);
        if (status >= 0 && WIFSIGNALED(status)) {
            const int signal = WTERMSIG(status);
            return fmt::format("rank {} was killed by signal {} ({})", rank, signal,
                               strsignal(signal));
        }
        return fmt::format("rank {} ended by itself", rank);
    }

    void end(shm::Clock::time_point deadline) override {
        while (poll_some(deadline)) {
        }
        for (Child& child : children_) {
            if (child.descriptor < 0) continue;
            kill(child.pid, SIGKILL);
            reap(child);
        }
    }

private:
    struct Child {
        pid_t pid = 0;
        int descriptor = -1;  // a pidfd; -1 once it is reaped
    };

    // The status, or -1 if somebody else has taken it.
    static int reap(Child& child) {
        int status = 0;
        int result = 0;
        do {
            result = waitpid(child.pid, &status, 0);
        } while (result < 0 && errno == EINTR);
        close(child.descriptor);
        child.descriptor = -1;
        return result < 0 ? -1 : status;
    }

    static void kill_and_reap(pid_t pid) {
        kill(pid, SIGKILL);
        while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
        }
    }

    // Reaps whoever has left. False when there is nobody or no time left.
    bool poll_some(shm::Clock::time_point deadline) {
        std::vector<pollfd> watched;
        for (const Child& child : children_) watched.push_back({child.descriptor, POLLIN, 0});
        const bool any_left = std::any_of(children_.begin(), children_.end(),
                                          [](const Child& c) { return c.descriptor >= 0; });
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - shm::Clock::now());
        if (!any_left || left.count() <= 0) return false;
        poll(watched.data(), watched.size(), static_cast<int>(left.count()));
        for (std::size_t i = 0; i < children_.size(); ++i) {
            if (watched[i].revents != 0) reap(children_[i]);
        }
        return true;
    }

    std::vector<Child> children_;
};

}  // namespace

std::unique_ptr<DeviceCrew> start_processes(const Arena& arena, const std::vector<int>& numbers,
                                            int host_bell) {
    return std::make_unique<Processes>(arena, numbers, host_bell);
}

}  // namespace peal::worker
