// SPDX-License-Identifier: Apache-2.0
#include "peal/watch.hpp"

#include <unistd.h>

#include <utility>

namespace peal {
namespace {

thread_local Watch* innermost = nullptr;

}  // namespace

Watch::Watch(std::function<void()> look)
    : look_(std::move(look)), process_(getpid()), outer_(std::exchange(innermost, this)) {}

Watch::~Watch() { innermost = outer_; }

bool Watch::is_set() { return innermost != nullptr; }

void Watch::look_up() {
    Watch* const watch = innermost;
    if (!watch) return;
    const Clock::time_point now = Clock::now();
    if (now < watch->next_ || watch->process_ != getpid()) return;
    watch->next_ = now + kInterval;
    watch->look_();
}

}  // namespace peal
