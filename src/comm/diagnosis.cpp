// SPDX-License-Identifier: Apache-2.0
#include "comm/diagnosis.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "engine/standing.hpp"
#include "shm/deadline.hpp"

namespace peal::comm {

void Diagnosis::leave(std::uint64_t next_turn) const {
    self_.entered.store(next_turn, std::memory_order_relaxed);
    self_.has_left.store(true, std::memory_order_release);  // pairs with look_around()
    for (const int member : members_.ranks) ring_if_asleep(world_, member);
}

void Diagnosis::refuse() {
    if (broken_) fail(Fault::wrong, "the communicator is broken: " + *broken_);
    if (has_failed()) fail_as_reported();
    fail_by_alarm();
}

// What `rank` called in `turn`; nothing if it has not called yet. Acquire: pairs with log().
std::optional<Stamp> Diagnosis::called(int rank, std::uint64_t turn) const {
    const LogEntry& entry = members_.memory.member(rank).log[turn % Member::kLog];
    if (entry.turns.load(std::memory_order_acquire) != turn + 1) return std::nullopt;
    return Stamp{entry.call.load(std::memory_order_relaxed),
                 entry.windows.load(std::memory_order_relaxed)};
}

// As far back as a call can have gone unnoticed: every rank has heard from all since then.
void Diagnosis::expect_same_calls(int rank) {
    const std::uint64_t end = call_.place.turn.number + 1;
    for (std::uint64_t turn = end - std::min(end, Turns::kSlots); turn < end; ++turn) {
        if (called(rank, turn) != called(members_.rank, turn))
            give_up(GroupHead::mismatch, rank, turn);
    }
}

// Of those who left the world without having been in the communicator at all, the world knows.
// Acquire: pairs with leave().
bool Diagnosis::has_left(int rank) const {
    const RankRecord& record = world_.header().ranks[members_.in_world(rank)];
    return record.state.load(std::memory_order_acquire) == RankState::left ||
           members_.memory.member(rank).has_left.load(std::memory_order_acquire);
}

void Diagnosis::look_around(Clock::time_point wait_began) {
    const std::uint64_t turn = call_.place.turn.number;
    note_waiting();
    for (int rank = 0; rank < members_.nranks(); ++rank) {
        const bool left = has_left(rank);  // first: what it called before counts
        const std::optional<Stamp> stamp = called(rank, turn);
        if (stamp && *stamp != call_.stamp) give_up(GroupHead::mismatch, rank, turn);
        if (left && !stamp) give_up(GroupHead::member_left, rank, turn);
    }
    if (Clock::now() >= deadline(wait_began)) give_up(GroupHead::timeout, members_.rank, turn);
}

Clock::time_point Diagnosis::deadline(Clock::time_point wait_began) const {
    return timeout_.count() > 0 ? after(wait_began, timeout_) : kNoDeadline;
}

Clock::time_point Diagnosis::next_look(Clock::time_point wait_began) const {
    return std::min(from_now(Backoff::kNap), deadline(wait_began));
}

// The memory of a process is gone a moment before its death is known.
void Diagnosis::fail_to_reach(int peer) {
    const int reason = errno;
    constexpr std::chrono::milliseconds kMoment{200};
    const auto is_told = [this] { return has_failed(); };
    wait_until(world_, members_.self_in_world(), is_told, from_now(kMoment));
    give_up(GroupHead::lost, peer, call_.place.turn.number, reason);
}

void Diagnosis::note_waiting() {
    // In a kernel of the user's a cell does not say whose it is.
    const std::int32_t ringer = ringer_of(call_.core.op());
    self_.entered.store(call_.place.turn.number + 1, std::memory_order_relaxed);
    self_.waits_for.store(call_.phase == CallAtHand::Phase::kernel ? -1 : ringer,
                          std::memory_order_relaxed);
    self_.instruction.store(static_cast<std::int64_t>(call_.core.position()),
                            std::memory_order_release);
}

// The first to give up says why for all. Where a rank has died, whatever else is found follows from
// that: who was told of it has left.
void Diagnosis::give_up(GroupHead::Failure failure, int culprit, std::uint64_t turn, int reason) {
    if (world_.failed_rank() >= 0) fail_by_alarm();
    std::uint32_t none = GroupHead::none;
    if (head_.failure.compare_exchange_strong(none, GroupHead::being_told,
                                              std::memory_order_acq_rel)) {
        head_.turn.store(turn, std::memory_order_relaxed);
        head_.culprit.store(culprit, std::memory_order_relaxed);
        head_.reason.store(reason, std::memory_order_relaxed);
        head_.failure.store(failure, std::memory_order_release);  // pairs with fail_as_reported()
        for (const int member : members_.ranks) world_.wake(member);
    }
    fail_as_reported();
}

void Diagnosis::fail_as_reported() {
    while (head_.failure.load(std::memory_order_acquire) == GroupHead::being_told) {
        if (world_.failed_rank() >= 0) fail_by_alarm();
        relax();
    }
    const std::uint64_t turn = head_.turn.load(std::memory_order_relaxed);
    const int culprit = head_.culprit.load(std::memory_order_relaxed);
    switch (head_.failure.load(std::memory_order_relaxed)) {
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
                             culprit, std::strerror(head_.reason.load(std::memory_order_relaxed)),
                             calls_of_all(turn)));
        default:
            fail(Fault::bound,
                 fmt::format("timeout: rank {} waited too long:{}{}", culprit, standings(),
                             call_.phase == CallAtHand::Phase::kernel ? standing_in_kernel() : ""));
    }
}

void Diagnosis::fail_by_alarm() {
    const int dead = world_.failed_rank();
    const std::string whose = members_.nranks() == world_.nranks()
                                  ? fmt::format("rank {}", dead)
                                  : fmt::format("rank {} of the world", dead);
    std::string where = "no call";
    if (call_.phase == CallAtHand::Phase::kernel) {
        where = fmt::format("kernel {} (call {}){}", call_.core.plan().kernel,
                            call_.place.turn.number, standing_in_kernel());
    } else if (call_.phase != CallAtHand::Phase::idle) {
        where = fmt::format("{} (call {})", describe(call_.stamp), call_.place.turn.number);
    }
    fail(Fault::wrong, fmt::format("{} died; rank {} was in {}", whose, members_.rank, where));
}

void Diagnosis::fail(Fault fault, const std::string& message) {
    if (!broken_) broken_ = message;
    const bool shows_buffer = call_.routine != nullptr && call_.routine->staging == Staging::reach;
    if (shows_buffer && call_.phase != CallAtHand::Phase::idle) peers_.wait_for_copiers();
    call_.phase = CallAtHand::Phase::idle;
    throw Error(fault, message);
}

std::string Diagnosis::calls_of_all(std::uint64_t turn) const {
    std::string text;
    for (int rank = 0; rank < members_.nranks(); ++rank) {
        const std::optional<Stamp> stamp = called(rank, turn);
        const bool left = has_left(rank);
        text += fmt::format("\n  rank {}: {}", rank,
                            stamp ? describe(*stamp) : (left ? "left" : "has not called yet"));
    }
    return text;
}

std::string Diagnosis::standings() const {
    const std::uint64_t turn = head_.turn.load(std::memory_order_relaxed);
    std::string text;
    for (int rank = 0; rank < members_.nranks(); ++rank) {
        const Member& member = members_.memory.member(rank);
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
std::string Diagnosis::standing_in_kernel() const {
    const Standing standing = standing_of(call_.core);
    return fmt::format("\n  kernel {} on rank {}, {}\n  {}", call_.core.plan().kernel,
                       members_.rank, instruction_note(standing), reason_note(standing, {}));
}

}  // namespace peal::comm
