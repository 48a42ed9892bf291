// SPDX-License-Identifier: Apache-2.0
#include "pto/faults.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <ucontext.h>

#include <csignal>

namespace peal::pto {
namespace {

const Witness* witness = nullptr;

int access_of([[maybe_unused]] void* context) {
#if defined(__x86_64__)
    constexpr int kWriteBit = 2;
    const auto* state = static_cast<const ucontext_t*>(context);
    return (state->uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0 ? 1 : 0;
#else
    return -1;
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
    Crash crash;
    crash.signal = signal;
    crash.address = reinterpret_cast<std::uint64_t>(info->si_addr);
    crash.access = access_of(context);
    crash.argument = witness->arguments.at(crash.address);
    void* frames[Crash::kMaxFrames];
    const int count = backtrace(frames, Crash::kMaxFrames);
    for (int i = 0; i < count; ++i) {
        Dl_info where{};
        if (dladdr(frames[i], &where) == 0) continue;
        for (std::uint32_t library = 0; library < witness->libraries.size(); ++library) {
            const std::uint64_t base = witness->libraries[library].base;
            if (reinterpret_cast<std::uint64_t>(where.dli_fbase) != base) continue;
            crash.libraries[crash.frame_count] = library;
            crash.frames[crash.frame_count++] = reinterpret_cast<std::uint64_t>(frames[i]) - base;
        }
    }
    witness->messenger.end(crash);
}

}  // namespace

void catch_faults(const Witness& all) {
    witness = &all;
    static char stack[1 << 16];
    stack_t where{};
    where.ss_sp = stack;
    where.ss_size = sizeof(stack);
    sigaltstack(&where, nullptr);
    void* frame = nullptr;
    backtrace(&frame, 1);  // loads what it needs now
    struct sigaction action {};
    action.sa_sigaction = &on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
        sigaction(signal, &action, nullptr);
    }
}

}  // namespace peal::pto
