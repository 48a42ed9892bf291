// SPDX-License-Identifier: Apache-2.0
// Calls that were started and are not done. They are carried out in the order in which they were
// started, one at a time.
#pragma once

#include <cstdint>
#include <deque>

#include "comm/progress.hpp"
#include "comm/under_way.hpp"

namespace peal::comm {

class Queue {
public:
    using Ticket = std::uint64_t;

    Queue(Progress& progress, UnderWay& under_way) : progress_(progress), under_way_(under_way) {}

    const Progress& progress() const { return progress_; }
    UnderWay& under_way() const { return under_way_; }

    Ticket start(const Request& request);
    // Goes as far as it can without waiting.
    void go_on();
    // Goes on without waiting, with all that is under way; whether the call is done.
    bool test(Ticket ticket);
    void wait(Ticket ticket);
    // Waits for everything that was started here. Every blocking call begins with it.
    void drain() {
        if (!items_.empty()) [[unlikely]]
            wait(next_ - 1);
    }

private:
    bool is_done(Ticket ticket) const { return ticket < next_ - items_.size(); }
    void require_sound(Ticket ticket);
    void finish_first();
    template <class Work>
    auto or_drop_all(Work work);

    Progress& progress_;
    UnderWay& under_way_;
    std::deque<Request> items_;  // the first has begun
    Ticket next_ = 0;
    Ticket dropped_ = ~Ticket{0};  // the first that did not end well
};

}  // namespace peal::comm
