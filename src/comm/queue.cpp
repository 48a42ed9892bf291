// SPDX-License-Identifier: Apache-2.0
#include "comm/queue.hpp"

#include <algorithm>
#include <utility>

namespace peal::comm {

// An error breaks the communicator, so what was queued behind it will not happen.
template <class Work>
auto Queue::or_drop_all(Work work) {
    try {
        return work();
    } catch (...) {
        dropped_ = std::min(dropped_, next_ - items_.size());
        items_.clear();
        under_way_.remove(*this);
        throw;
    }
}

// What is over at once needs no place here.
Queue::Ticket Queue::start(const Request& request) {
    return or_drop_all([&] {
        const bool is_first = items_.empty();
        if (is_first) {
            progress_.begin(request);
            if (progress_.go_on()) return next_++;
        }
        items_.push_back(request);
        const Ticket ticket = next_++;
        if (is_first) {
            progress_.moved(items_.front());
            under_way_.add(progress_.call(), *this);
        } else {
            go_on();
        }
        return ticket;
    });
}

void Queue::go_on() {
    or_drop_all([&] {
        while (!items_.empty() && progress_.go_on()) finish_first();
    });
}

// What was dropped fails as the communicator does.
void Queue::require_sound(Ticket ticket) {
    if (ticket >= dropped_) progress_.diagnosis().require_usable();
}

bool Queue::test(Ticket ticket) {
    require_sound(ticket);
    return or_drop_all([&] {
        under_way_.go_on(progress_.call());
        while (!items_.empty() && progress_.poll()) finish_first();
        return is_done(ticket);
    });
}

void Queue::wait(Ticket ticket) {
    require_sound(ticket);
    or_drop_all([&] {
        while (!is_done(ticket)) {
            progress_.finish();
            finish_first();
        }
    });
}

void Queue::finish_first() {
    items_.pop_front();
    if (items_.empty()) {
        under_way_.remove(*this);
    } else {
        progress_.begin(items_.front());
    }
}

}  // namespace peal::comm
