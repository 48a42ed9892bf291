// SPDX-License-Identifier: Apache-2.0
#include "shm/process_memory.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <random>

namespace peal::shm {
namespace {

// The calls stop short where a page is missing, and at 2 GiB.
template <class Copy>
bool copy_all(std::uint64_t bytes, Copy&& copy) {
    std::uint64_t done = 0;
    while (done < bytes) {
        const ssize_t copied = copy(done);
        if (copied < 0 && errno == EINTR) continue;
        if (copied == 0) errno = EFAULT;
        if (copied <= 0) return false;
        done += static_cast<std::uint64_t>(copied);
    }
    return true;
}

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

bool copy_from_process(std::byte* to, pid_t process, std::uint64_t from, std::uint64_t bytes) {
    return copy_all(bytes, [&](std::uint64_t done) {
        const iovec here{to + done, bytes - done};
        const iovec there{pointer(from + done), bytes - done};
        return process_vm_readv(process, &here, 1, &there, 1, 0);
    });
}

bool copy_to_process(pid_t process, std::uint64_t to, const std::byte* from, std::uint64_t bytes) {
    return copy_all(bytes, [&](std::uint64_t done) {
        const iovec here{const_cast<std::byte*>(from) + done, bytes - done};
        const iovec there{pointer(to + done), bytes - done};
        return process_vm_writev(process, &here, 1, &there, 1, 0);
    });
}

const std::atomic<std::uint64_t>& word_of_this_process() {
    static std::mutex mutex;
    static pid_t owner = 0;  // a child inherits the word, and draws its own
    static std::atomic<std::uint64_t> word = 0;
    const std::lock_guard lock(mutex);
    if (owner != getpid()) {
        std::random_device random;
        word.store(std::uint64_t{random()} << 32 | random(), std::memory_order_relaxed);
        owner = getpid();
    }
    return word;
}

void admit_siblings() {
#ifdef PR_SET_PTRACER
    prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);  // fails where nobody asks for it
#endif
}

}  // namespace peal::shm
