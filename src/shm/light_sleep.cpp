// SPDX-License-Identifier: Apache-2.0
#include "shm/light_sleep.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace peal::shm {
namespace {

constexpr std::uint64_t kSlice = 100'000;  // ns; the shortest that there is

// As sched_setattr(2) wants it. The system's header for it and the library's <sched.h> do not go
// together.
struct Attributes {
    std::uint32_t size = sizeof(Attributes);
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t slice = 0;  // "runtime"
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
};

bool get(Attributes& attributes) {
    return syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0;
}

bool set_slice(Attributes attributes, std::uint64_t slice) {
    attributes.slice = slice;
    return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

}  // namespace

// Threads with other policies are somebody's own choice.
LightSleep::LightSleep() {
    Attributes attributes;
    if (!get(attributes) || attributes.policy != SCHED_OTHER) return;
    slice_before_ = attributes.slice;
    changed_ = set_slice(attributes, kSlice);
}

void LightSleep::end() const {
    Attributes attributes;
    if (changed_ && get(attributes)) set_slice(attributes, slice_before_);
}

}  // namespace peal::shm
