// SPDX-License-Identifier: Apache-2.0
// Diagnosis: how one rank of a group notices that a call cannot end well, and what all are told.
//
// What went wrong is written once, into memory that all members of the communicator share, by
// whoever notices first; everybody else reads it there. A rank that dies raises the alarm of the
// world, which comes before all that follows from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/call_report.hpp"
#include "comm/group_memory.hpp"
#include "comm/peer_memory.hpp"
#include "comm/request.hpp"
#include "comm/under_way.hpp"
#include "peal/error.hpp"
#include "shm/backoff.hpp"

namespace peal::comm {

// Why a communicator is broken, as a letter to another host; what comes of such a letter there.
std::string failure_letter(Fault fault, const std::string& story);
bool is_failure(std::string_view letter);
void hear_failure(const Members& members, std::string_view letter);

class Diagnosis {
public:
    // `call` is what reports tell of; it is over once one has been thrown.
    Diagnosis(const Members& members, const PeerMemory& peers, CallAtHand& call,
              UnderWay& under_way)
        : members_(members),
          world_(*members.world),
          head_(members.common.head()),
          log_(members.memory.log(members.rank)),
          peers_(peers),
          call_(call),
          under_way_(under_way),
          report_(members, call) {}

    // ---- what others may know of this rank

    // The call at hand. Release: pairs with called().
    [[gnu::always_inline]] void log(std::uint64_t turn, const Stamp& stamp,
                                    std::uint32_t site) const {
        LogEntry& entry = log_.entries[turn % CallLog::kEntries];
        entry.call.store(stamp.call, std::memory_order_relaxed);
        entry.windows.store(stamp.windows, std::memory_order_relaxed);
        entry.site.store(site, std::memory_order_relaxed);
        entry.turns.store(turn + 1, std::memory_order_release);
    }
    // It makes no further call.
    void leave() const;
    // It stands still from here on, until it goes on.
    void stand_still() const {
        std::atomic<std::uint64_t>& count = members_.self().standstills;
        const std::uint64_t now = count.load(std::memory_order_relaxed);
        // Who sees it stand sees all that it rang before: pairs with all_standing().
        if (now % 2 == 0) count.store(now + 1, std::memory_order_release);
    }
    void go_on() const {
        std::atomic<std::uint64_t>& count = members_.self().standstills;
        const std::uint64_t now = count.load(std::memory_order_relaxed);
        // Who sees what it rings from here on sees this: a ring is a release.
        if (now % 2 == 1) count.store(now + 1, std::memory_order_relaxed);
    }

    // What is said of it, and of others.
    const CallReport& report() const { return report_; }

    // ---- questions. All of these throw Error.

    // What broke the communicator, if anything has.
    [[gnu::always_inline]] void require_usable() const {
        const bool is_usable = !under_way_.broken && !has_failed() && world_.failed_rank() < 0;
        if (!is_usable) [[unlikely]]
            refuse();
    }
    // Whether somebody has given up. Acquire: pairs with give_up().
    bool has_failed() const {
        return head_.failure.load(std::memory_order_acquire) != CommonHead::none;
    }
    // After a long wait: whether all are in this call, or can still come to it.
    void look_for_members() const;
    // The same of everything that is under way, and in time. Who asks where this rank stands is
    // answered.
    void look_around(Clock::time_point wait_began) const;
    // A ring with another hash is either of a later call of a rank that has gone ahead, or of a
    // rank whose calls were other than ours. Its log tells.
    void expect_same_calls(int rank) const;

    // A member on another host, outside of calls: whether it can still answer, and in time.
    void look_for_far(int member, Clock::time_point wait_began) const;

    // When to look around again in a wait that began then.
    Clock::time_point next_look(Clock::time_point wait_began) const;

    // ---- the end of the communicator

    [[noreturn]] void fail(Fault fault, const std::string& message) const;
    [[noreturn]] void fail_as_reported() const;
    [[noreturn]] void fail_by_alarm() const;
    // The call at hand is over, by an error: its buffer is the caller's again.
    void let_go() const;
    // errno says why.
    [[noreturn]] void fail_to_reach(int peer) const;
    // A rank of the world, on another host.
    [[noreturn]] void fail_to_reach_host(int rank, const std::string& why) const;

private:
    void look_to_other_hosts() const;
    void ask_other_host(int rank) const;
    void hear_other_hosts() const;
    void tell_other_hosts(Fault fault, const std::string& story) const;
    [[noreturn]] void refuse() const;
    std::string story_of_loss(int lost) const;
    [[noreturn]] void fail_by_death() const;
    void answer_if_asked() const;
    void look_for_all_members() const;
    std::string standings_of_all() const;
    void answer_question() const;
    [[noreturn]] void time_out() const;
    bool may_answer(int rank, std::uint32_t inquiry) const;
    bool is_stuck() const;
    void ask_watch() const;

    // In deadlock.cpp.
    std::optional<std::vector<std::uint64_t>> all_standing() const;
    void look_for_deadlock() const;
    void answer_first_member() const;
    bool reaches_all() const;
    bool have_all_answered() const;
    void ask_all_members() const;
    void look_for_deadlock_between_hosts() const;

    void tell(Fault fault, const std::string& story) const;
    [[noreturn]] void give_up(Fault fault, const std::string& story) const;
    [[noreturn]] void tell_mismatch(std::uint64_t turn) const;

    const Members& members_;
    World& world_;
    CommonHead& head_;
    CallLog& log_;
    const PeerMemory& peers_;
    CallAtHand& call_;
    UnderWay& under_way_;
    CallReport report_;
};

}  // namespace peal::comm
