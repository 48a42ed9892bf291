// SPDX-License-Identifier: Apache-2.0
// Calls that were started and are not done. They are carried out in the order in which they were
// started, one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "comm/group.hpp"

namespace peal::comm {

class Queue {
public:
    using Ticket = std::uint64_t;

    explicit Queue(std::unique_ptr<Group> group) : group_(std::move(group)) {}

    Group& group() { return *group_; }

    Ticket start(RoutinePtr routine, const Request& request);
    // Goes on without waiting; whether the call is done.
    bool test(Ticket ticket);
    void wait(Ticket ticket);
    // Waits for everything that was started. Every blocking call begins with it.
    void drain() {
        if (!items_.empty()) [[unlikely]]
            wait(next_ - 1);
    }

private:
    struct Item {
        RoutinePtr routine;
        Request request;
    };

    bool is_done(Ticket ticket) const { return ticket < next_ - items_.size(); }
    void require_sound(Ticket ticket);
    void finish_first();
    template <class Work>
    auto or_drop_all(Work work);

    std::unique_ptr<Group> group_;
    std::deque<Item> items_;  // the first has begun
    Ticket next_ = 0;
    Ticket dropped_ = ~Ticket{0};  // the first that did not end well
};

}  // namespace peal::comm
