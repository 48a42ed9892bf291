// SPDX-License-Identifier: Apache-2.0
#include "shm/question.hpp"

#include <atomic>
#include <csignal>

namespace peal::shm {
namespace {

std::atomic<bool> is_open = false;
bool ends_process = true;  // without this; shells start what is in the background with it ignored
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler stores it

// Only what a signal handler may do.
void note_question(int signal) {
    if (!is_open.exchange(true) || !ends_process) return;
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // takes effect when this handler returns
}

}  // namespace

void take_questions() {
    struct sigaction action = {};
    sigaction(SIGQUIT, nullptr, &action);
    const bool is_ignored = action.sa_handler == SIG_IGN;
    const bool is_default = action.sa_handler == SIG_DFL;
    if ((action.sa_flags & SA_SIGINFO) != 0 || !(is_default || is_ignored)) return;
    ends_process = is_default;
    action.sa_handler = note_question;
    action.sa_flags = SA_RESTART;
    sigaction(SIGQUIT, &action, nullptr);
}

bool take_question() { return is_open.load(std::memory_order_relaxed) && is_open.exchange(false); }

}  // namespace peal::shm
