// SPDX-License-Identifier: Apache-2.0
#include "shm/launcher.hpp"

#include <csignal>
#include <utility>

namespace peal::shm {
namespace {

std::atomic<bool>* held_back = nullptr;  // in the record of this rank

bool is_default(int signal) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

// Only what a signal handler may do.
void hold_back(int signal, siginfo_t* info, void*) {
    const bool is_from_terminal = info->si_code == SI_KERNEL;
    if (is_from_terminal && !held_back->exchange(true)) return;
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // takes effect when this handler returns
}

}  // namespace

void leave_keyboard_to_launcher(std::shared_ptr<World> world, int rank) {
    static auto* const kept = new std::shared_ptr<World>;  // the handler may run at the very end
    *kept = std::move(world);
    held_back = &(*kept)->header().ranks[rank].held_back;
    // Ignored: a handler, even one that does nothing, would end a sleep() or poll() of the program.
    if (is_default(SIGQUIT)) std::signal(SIGQUIT, SIG_IGN);
    if (!is_default(SIGINT)) return;
    struct sigaction action = {};
    action.sa_sigaction = hold_back;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
}

}  // namespace peal::shm
