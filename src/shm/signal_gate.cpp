// SPDX-License-Identifier: Apache-2.0
#include "shm/signal_gate.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "peal/error.hpp"

namespace peal::shm {
namespace {

sigset_t handed_on(SignalGate::Children children) {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
        sigaddset(&signals, signal);
    }
    if (children == SignalGate::Children::too) sigaddset(&signals, SIGCHLD);
    return signals;
}

}  // namespace

SignalGate::SignalGate(Children children) {
    const sigset_t signals = handed_on(children);
    descriptor_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (descriptor_ < 0) {
        throw Error(Fault::resource,
                    fmt::format("cannot watch for signals: {}", std::strerror(errno)));
    }
    struct sigaction keep_status = {};
    keep_status.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, nullptr, &child_action_before_);
    const bool lost = child_action_before_.sa_handler == SIG_IGN ||
                      (child_action_before_.sa_flags & SA_NOCLDWAIT) != 0;
    if (lost) sigaction(SIGCHLD, &keep_status, nullptr);
    pthread_sigmask(SIG_BLOCK, &signals, &mask_before_);
}

SignalGate::~SignalGate() { open(); }

SignalGate::Signal SignalGate::next() const {
    signalfd_siginfo info = {};
    if (read(descriptor_, &info, sizeof info) != sizeof info) return {};
    return {static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

void SignalGate::pass_on(int number) const {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    raise(number);
    pthread_sigmask(SIG_BLOCK, &one, nullptr);
}

void SignalGate::open() const {
    close(descriptor_);
    sigaction(SIGCHLD, &child_action_before_, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

}  // namespace peal::shm
