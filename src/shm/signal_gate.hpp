// SPDX-License-Identifier: Apache-2.0
// Signals as something to poll() for: those that a supervisor hands on to its ranks.
#pragma once

#include <csignal>

namespace peal::shm {

// While it exists, the signals wait at its descriptor instead of ending the process, and children
// leave their status behind also where SIGCHLD was ignored. Of the thread that made it.
class SignalGate {
public:
    enum class Children : bool { not_theirs, too };  // whether SIGCHLD is among the signals
    explicit SignalGate(Children children = Children::not_theirs);
    ~SignalGate();
    SignalGate(const SignalGate&) = delete;
    SignalGate& operator=(const SignalGate&) = delete;

    // What a terminal sent went to its whole foreground, so the ranks have it too.
    struct Signal {
        int number = 0;
        bool is_from_terminal = false;
        explicit operator bool() const { return number != 0; }
    };

    int descriptor() const { return descriptor_; }
    // The next that has come; nothing if there is none.
    Signal next() const;
    // The process gets it after all, as it would have without the gate.
    void pass_on(int number) const;
    // Signals are as they were before the gate. For a forked child, which has no destructor to wait
    // for.
    void open() const;

private:
    int descriptor_ = -1;
    sigset_t mask_before_{};
    struct sigaction child_action_before_ {};
};

}  // namespace peal::shm
