// SPDX-License-Identifier: Apache-2.0
// Diagnosis: how one rank of a group notices that a call cannot end well, and what all are told.
//
// What went wrong is written once, into the group's head, by whoever notices first; everybody else
// reads it there. A rank that dies raises the alarm of the world, which comes before all that
// follows from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "comm/group_memory.hpp"
#include "comm/peer_memory.hpp"
#include "comm/request.hpp"
#include "peal/error.hpp"
#include "shm/backoff.hpp"

namespace peal::comm {

class Diagnosis {
public:
    // `call` is what reports tell of; it is over once one has been thrown.
    Diagnosis(const Members& members, const PeerMemory& peers, CallAtHand& call)
        : members_(members),
          world_(*members.world),
          head_(members.memory.head()),
          self_(members.self()),
          peers_(peers),
          call_(call) {}

    // ---- what others may know of this rank

    // The call at hand. Release: pairs with called().
    void log() const {
        LogEntry& entry = self_.log[call_.place.turn.number % Member::kLog];
        entry.call.store(call_.stamp.call, std::memory_order_relaxed);
        entry.windows.store(call_.stamp.windows, std::memory_order_relaxed);
        entry.site.store(call_.site, std::memory_order_relaxed);
        entry.turns.store(call_.place.turn.number + 1, std::memory_order_release);
    }
    // It makes no further call.
    void leave() const;

    // ---- questions. All of these throw Error.

    // What broke the communicator, if anything has.
    void require_usable() {
        const bool is_usable = !broken_ && !has_failed() && world_.failed_rank() < 0;
        if (!is_usable) [[unlikely]]
            refuse();
    }
    // Whether somebody has given up. Acquire: pairs with give_up().
    bool has_failed() const {
        return head_.failure.load(std::memory_order_acquire) != GroupHead::none;
    }
    // After a long wait: whether all are in this call, or can still come to it, in time. Who asks
    // where this rank stands is answered.
    void look_around(Clock::time_point wait_began);
    // A ring with another seal is either of a later call of a rank that has gone ahead, or of a
    // rank whose calls were other than ours. Its log tells.
    void expect_same_calls(int rank);

    // Zero: a wait may take any time.
    void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }
    // When to look around again in a wait that began then.
    Clock::time_point next_look(Clock::time_point wait_began) const;

    // ---- the end of the communicator

    [[noreturn]] void fail(Fault fault, const std::string& message);
    [[noreturn]] void fail_as_reported();
    [[noreturn]] void fail_by_alarm();
    // errno says why.
    [[noreturn]] void fail_to_reach(int peer);

private:
    bool has_left(int rank) const;
    [[noreturn]] void refuse();
    [[noreturn]] void fail_by_death();
    std::optional<Stamp> called(int rank, std::uint64_t turn) const;
    void answer_if_asked();
    [[noreturn]] void time_out();
    bool may_answer(int rank, std::uint32_t inquiry) const;
    [[noreturn]] void give_up(GroupHead::Failure failure, int culprit, std::uint64_t turn,
                              int reason = 0);
    std::string call_of(int rank, std::uint64_t turn) const;
    std::string calls_of_all(std::uint64_t turn) const;
    std::string standings(std::uint64_t turn, std::uint32_t inquiry) const;
    std::string standing() const;
    std::string own_call() const;
    std::string own_wait() const;
    std::string ringers(std::size_t position) const;
    std::string among() const;
    std::string in_world(int rank) const;

    const Members& members_;
    World& world_;
    GroupHead& head_;
    Member& self_;
    const PeerMemory& peers_;
    CallAtHand& call_;
    std::chrono::milliseconds timeout_{0};
    std::optional<std::string> broken_;  // by what
};

}  // namespace peal::comm
