// SPDX-License-Identifier: Apache-2.0
// When a call cannot end well: how a rank notices, and what it says.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "comm/group.hpp"
#include "engine/standing.hpp"

namespace peal::comm {

// What `rank` called in `turn`; nothing if it has not called yet. Acquire: pairs with log().
std::optional<Stamp> Group::called(int rank, std::uint64_t turn) const {
    const LogEntry& entry = memory_.member(rank).log[turn % Member::kLog];
    if (entry.turns.load(std::memory_order_acquire) != turn + 1) return std::nullopt;
    return entry.stamp.load(std::memory_order_relaxed);
}

// A ring with another seal is either of a later call of a rank that has gone ahead, or of a rank
// whose calls were other than ours. Its log tells.
void Group::pass_foreign_ring(const Op& wait) {
    expect_same_calls(static_cast<int>(wait.dst.offset / kCacheLineBytes));
}

// As far back as a call can have gone unnoticed: every rank has heard from all since then.
void Group::expect_same_calls(int rank) {
    const std::uint64_t end = place_.turn.number + 1;
    for (std::uint64_t turn = end - std::min(end, Turns::kSlots); turn < end; ++turn) {
        if (called(rank, turn) != called(rank_, turn)) give_up(GroupHead::mismatch, rank, turn);
    }
}

// After a long wait.
void Group::look_around(Clock::duration waited) {
    note_waiting();
    for (int rank = 0; rank < nranks(); ++rank) {
        const std::optional<Stamp> stamp = called(rank, place_.turn.number);
        if (stamp && *stamp != stamp_) give_up(GroupHead::mismatch, rank, place_.turn.number);
        const Member& member = memory_.member(rank);
        if (member.has_left.load(std::memory_order_acquire) &&
            member.entered.load(std::memory_order_relaxed) <= place_.turn.number) {
            give_up(GroupHead::member_left, rank, place_.turn.number);
        }
    }
    if (timeout_.count() > 0 && waited >= timeout_) {
        give_up(GroupHead::timeout, rank_, place_.turn.number);
    }
}

// The memory of a process is gone a moment before its death is known.
void Group::fail_to_reach(int peer) {
    const int reason = errno;
    constexpr std::chrono::milliseconds kMoment{200};
    const auto is_told = [this] { return has_failed(); };
    wait_until(*world_, members_[static_cast<std::size_t>(rank_)], is_told, Clock::now() + kMoment);
    give_up(GroupHead::lost, peer, place_.turn.number, reason);
}

void Group::note_waiting() {
    // In a kernel of the user's a cell does not say whose it is.
    const auto ringer = static_cast<std::int32_t>(core_.op().dst.offset / kCacheLineBytes);
    self_.entered.store(turns_.next(), std::memory_order_relaxed);
    self_.waits_for.store(phase_ == Phase::kernel ? -1 : ringer, std::memory_order_relaxed);
    self_.instruction.store(static_cast<std::int64_t>(core_.position()), std::memory_order_release);
}

// The first to give up says why for all. Where a rank has died, whatever else is found follows from
// that: who was told of it has left.
void Group::give_up(GroupHead::Failure failure, int culprit, std::uint64_t turn, int reason) {
    if (world_->failed_rank() >= 0) fail_by_alarm();
    GroupHead& head = memory_.head();
    std::uint32_t none = GroupHead::none;
    if (head.failure.compare_exchange_strong(none, GroupHead::being_told,
                                             std::memory_order_acq_rel)) {
        head.turn.store(turn, std::memory_order_relaxed);
        head.culprit.store(culprit, std::memory_order_relaxed);
        head.reason.store(reason, std::memory_order_relaxed);
        head.failure.store(failure, std::memory_order_release);  // pairs with fail_as_reported()
        for (const int member : members_) world_->wake(member);
    }
    fail_as_reported();
}

void Group::fail_as_reported() {
    const GroupHead& head = memory_.head();
    while (head.failure.load(std::memory_order_acquire) == GroupHead::being_told) {
        if (world_->failed_rank() >= 0) fail_by_alarm();
        relax();
    }
    const std::uint64_t turn = head.turn.load(std::memory_order_relaxed);
    const int culprit = head.culprit.load(std::memory_order_relaxed);
    switch (head.failure.load(std::memory_order_relaxed)) {
        case GroupHead::mismatch:
            fail(Fault::wrong,
                 fmt::format("the ranks made different calls:{}", calls_of_all(turn)));
        case GroupHead::member_left:
            fail(Fault::wrong,
                 fmt::format("rank {} has left the communicator while others still call it:{}",
                             culprit, calls_of_all(turn)));
        case GroupHead::lost:
            fail(Fault::wrong,
                 fmt::format("cannot copy from or to the buffer of rank {}: {}; is every rank's "
                             "buffer memory that can be read and written?{}",
                             culprit, std::strerror(head.reason.load(std::memory_order_relaxed)),
                             calls_of_all(turn)));
        default:
            fail(Fault::bound,
                 fmt::format("timeout: rank {} waited too long:{}{}", culprit, standings(),
                             phase_ == Phase::kernel ? standing_in_kernel() : ""));
    }
}

void Group::fail_by_alarm() {
    const int dead = world_->failed_rank();
    const std::string whose = nranks() == world_->nranks()
                                  ? fmt::format("rank {}", dead)
                                  : fmt::format("rank {} of the world", dead);
    std::string where = "no call";
    if (phase_ == Phase::kernel) {
        where = fmt::format("kernel {} (call {}){}", core_.plan().kernel, place_.turn.number,
                            standing_in_kernel());
    } else if (phase_ != Phase::idle) {
        where = fmt::format("{} (call {})", describe(stamp_), place_.turn.number);
    }
    fail(Fault::wrong, fmt::format("{} died; rank {} was in {}", whose, rank_, where));
}

void Group::fail(Fault fault, const std::string& message) {
    if (!broken_) broken_ = message;
    const bool shows_buffer = carried_ != nullptr && carried_->staging == Staging::reach;
    if (shows_buffer && phase_ != Phase::idle) peers_.wait_for_copiers();
    phase_ = Phase::idle;
    throw Error(fault, message);
}

std::string Group::calls_of_all(std::uint64_t turn) const {
    std::string text;
    for (int rank = 0; rank < nranks(); ++rank) {
        const std::optional<Stamp> stamp = called(rank, turn);
        const bool left = memory_.member(rank).has_left.load(std::memory_order_acquire);
        text += fmt::format("\n  rank {}: {}", rank,
                            stamp ? describe(*stamp) : (left ? "left" : "has not called yet"));
    }
    return text;
}

std::string Group::standings() const {
    const std::uint64_t turn = memory_.head().turn.load(std::memory_order_relaxed);
    std::string text;
    for (int rank = 0; rank < nranks(); ++rank) {
        const Member& member = memory_.member(rank);
        const std::optional<Stamp> stamp = called(rank, turn);
        const std::int64_t instruction = member.instruction.load(std::memory_order_acquire);
        text += fmt::format("\n  rank {}: ", rank);
        if (!stamp) {
            text += "has not called yet";
        } else if (instruction < 0 || member.entered.load(std::memory_order_relaxed) <= turn) {
            text += fmt::format("in {}, or past it", describe(*stamp));
        } else {
            const std::int32_t ringer = member.waits_for.load(std::memory_order_relaxed);
            text += fmt::format("in {}, at instruction {}", describe(*stamp), instruction);
            if (ringer >= 0) text += fmt::format(", waits for rank {}", ringer);
        }
    }
    return text;
}

// The wait of this rank that did not pass, with the value that this run makes of it.
std::string Group::standing_in_kernel() const {
    const Standing standing = standing_of(core_);
    return fmt::format("\n  kernel {} on rank {}, {}\n  {}", core_.plan().kernel, rank_,
                       instruction_note(standing), reason_note(standing, {}));
}

}  // namespace peal::comm
