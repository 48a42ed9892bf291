// SPDX-License-Identifier: Apache-2.0
#include "comm/queue.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::comm {

void Queue::refuse() const {
    const bool is_broken = user_.load(std::memory_order_relaxed) == &kSeveral;
    throw Error(is_broken ? Fault::wrong : Fault::usage,
                fmt::format("{}; a communicator belongs to one thread at a time: give each thread "
                            "its own, made by split()",
                            is_broken ? "the communicator is broken: several threads have called "
                                        "it at once"
                                      : "the communicator is in use by another thread"));
}

// An error breaks the communicator, so what was queued behind it will not happen.
template <class Work>
auto Queue::or_drop_all(Work work) {
    try {
        return work();
    } catch (...) {
        dropped_ = std::min(dropped_, next_ - items_.size());
        items_.clear();
        throw;
    }
}

Queue::Ticket Queue::start(RoutinePtr routine, const Request& request) {
    return or_drop_all([&] {
        items_.push_back({std::move(routine), request});
        const Ticket ticket = next_++;
        if (items_.size() == 1) group_->progress().begin(items_.front().request);
        while (!items_.empty() && group_->progress().go_on()) finish_first();
        return ticket;
    });
}

// What was dropped fails as the communicator does.
void Queue::require_sound(Ticket ticket) {
    if (ticket >= dropped_) group_->progress().diagnosis().require_usable();
}

bool Queue::test(Ticket ticket) {
    require_sound(ticket);
    return or_drop_all([&] {
        while (!items_.empty() && group_->progress().poll()) finish_first();
        return is_done(ticket);
    });
}

void Queue::wait(Ticket ticket) {
    require_sound(ticket);
    or_drop_all([&] {
        while (!is_done(ticket)) {
            group_->progress().finish();
            finish_first();
        }
    });
}

void Queue::finish_first() {
    items_.pop_front();
    if (!items_.empty()) group_->progress().begin(items_.front().request);
}

}  // namespace peal::comm
