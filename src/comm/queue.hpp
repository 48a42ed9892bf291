// SPDX-License-Identifier: Apache-2.0
// Calls that were started and are not done. They are carried out in the order in which they were
// started, one at a time.
#pragma once

#include <atomic>
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

    // A call of one thread, as long as it exists. Throws Error(usage) if a call of another thread
    // is under way, which then goes on.
    //
    // Nothing but loads and stores of one word: an exchange would wait until the last ring has left
    // this core. So two calls that begin within the same few nanoseconds both pass; that is noticed
    // when the first of them ends, and told by the next call on the communicator.
    class Use {
    public:
        explicit Use(Queue& queue) : queue_(queue) {
            if (queue.user_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
                queue.refuse();
            queue.user_.store(&self_, std::memory_order_relaxed);
        }
        ~Use() {
            const bool is_alone = queue_.user_.load(std::memory_order_relaxed) == &self_;
            queue_.user_.store(is_alone ? nullptr : &kSeveral, std::memory_order_relaxed);
        }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

    private:
        Queue& queue_;
        char self_ = 0;  // its address is what tells uses apart
    };

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

    static constexpr char kSeveral = 0;  // its address: several threads have been here at once
    [[noreturn]] void refuse() const;
    bool is_done(Ticket ticket) const { return ticket < next_ - items_.size(); }
    void require_sound(Ticket ticket);
    void finish_first();
    template <class Work>
    auto or_drop_all(Work work);

    std::unique_ptr<Group> group_;
    std::atomic<const char*> user_ = nullptr;  // the call under way
    std::deque<Item> items_;                   // the first has begun
    Ticket next_ = 0;
    Ticket dropped_ = ~Ticket{0};  // the first that did not end well
};

}  // namespace peal::comm
