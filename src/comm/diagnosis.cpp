// SPDX-License-Identifier: Apache-2.0
#include "comm/diagnosis.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/settings.hpp"
#include "comm/sites.hpp"
#include "engine/standing.hpp"
#include "shm/deadline.hpp"
#include "shm/inquiry.hpp"

namespace peal::comm {
namespace {

constexpr std::chrono::milliseconds kMoment{200};

}  // namespace

void Diagnosis::leave() const {
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
    answer_if_asked();
    for (int rank = 0; rank < members_.nranks(); ++rank) {
        const bool left = has_left(rank);  // first: what it called before counts
        const std::optional<Stamp> stamp = called(rank, turn);
        if (stamp && *stamp != call_.stamp) give_up(GroupHead::mismatch, rank, turn);
        if (left && !stamp) give_up(GroupHead::member_left, rank, turn);
    }
    if (Clock::now() >= deadline_after(wait_began, timeout_)) time_out();
}

Clock::time_point Diagnosis::next_look(Clock::time_point wait_began) const {
    return std::min(from_now(Backoff::kNap), deadline_after(wait_began, timeout_));
}

// The memory of a process is gone a moment before its death is known.
void Diagnosis::fail_to_reach(int peer) {
    const int reason = errno;
    const auto is_told = [this] { return has_failed(); };
    wait_until(world_, members_.self_in_world(), is_told, from_now(kMoment));
    give_up(GroupHead::lost, peer, call_.place.turn.number, reason);
}

void Diagnosis::answer_if_asked() {
    const int self = members_.self_in_world();
    if (is_asked(world_, self)) answer(world_, self, standing());
}

// Who may still tell where it stands. Who has not come to this call may wait elsewhere, or be busy.
bool Diagnosis::may_answer(int rank, std::uint32_t inquiry) const {
    return !has_left(rank) && !answer_of(world_, members_.in_world(rank), inquiry);
}

// Asks all where they stand before it ends the call for all: then nobody would know any more.
void Diagnosis::time_out() {
    constexpr std::chrono::milliseconds kToAnswer{1000}, kToAnswerFromElsewhere{100};
    const std::uint64_t turn = call_.place.turn.number;
    const std::uint32_t inquiry = ask(world_);
    const Clock::time_point begin = Clock::now();
    const auto is_told = [&] {
        answer_if_asked();
        const bool hears_all = Clock::now() < begin + kToAnswerFromElsewhere;
        for (int rank = 0; rank < members_.nranks(); ++rank) {
            const bool counts = hears_all || called(rank, turn);
            if (counts && may_answer(rank, inquiry)) return has_failed();
        }
        return true;
    };
    while (!is_told() && Clock::now() < begin + kToAnswer && world_.failed_rank() < 0) {
        wait_until(world_, members_.self_in_world(), is_told, from_now(Backoff::kNap));
    }
    give_up(GroupHead::timeout, members_.rank, turn, static_cast<int>(inquiry));
}

// The first to give up says why for all. Where a rank has died before that, whatever else is found
// follows from it: who was told of it has left.
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

// Whoever is telling needs a few instructions; if it does not get to them, it was killed.
void Diagnosis::fail_as_reported() {
    const Clock::time_point patience = from_now(kMoment);
    while (head_.failure.load(std::memory_order_acquire) == GroupHead::being_told) {
        if (world_.failed_rank() >= 0 && Clock::now() >= patience) fail_by_death();
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
                 fmt::format("timeout: rank {} waited too long:{}", culprit,
                             standings(turn, static_cast<std::uint32_t>(
                                                 head_.reason.load(std::memory_order_relaxed)))));
    }
}

// A rank that died of what this group had already failed of is not the cause: who sees its death
// sees that failure.
void Diagnosis::fail_by_alarm() {
    if (has_failed()) fail_as_reported();
    fail_by_death();
}

void Diagnosis::fail_by_death() {
    std::string where = "no call";
    if (call_.phase == CallAtHand::Phase::kernel) {
        where = own_call() + own_wait();
    } else if (call_.phase != CallAtHand::Phase::idle) {
        where = own_call();
    }
    const int dead = world_.failed_rank();
    fail(Fault::wrong, fmt::format("rank {}{} died; rank {} was in {}", dead,
                                   members_.nranks() == world_.nranks() ? "" : " of the world",
                                   members_.rank, where));
}

void Diagnosis::fail(Fault fault, const std::string& message) {
    if (!broken_) broken_ = message;
    const bool shows_buffer = call_.routine != nullptr && call_.routine->staging == Staging::reach;
    if (shows_buffer && call_.phase != CallAtHand::Phase::idle) peers_.wait_for_copiers();
    call_.phase = CallAtHand::Phase::idle;
    throw Error(fault, message);
}

// `rank` has called in that turn. Its site is read after its turn, as called() says.
std::string Diagnosis::call_of(int rank, std::uint64_t turn) const {
    const Member& member = members_.memory.member(rank);
    const std::uint32_t site = member.log[turn % Member::kLog].site.load(std::memory_order_relaxed);
    return describe(called(rank, turn).value_or(Stamp{})) + site_text(member, site);
}

std::string Diagnosis::calls_of_all(std::uint64_t turn) const {
    std::string text;
    for (int rank = 0; rank < members_.nranks(); ++rank) {
        const bool has_called = called(rank, turn).has_value();
        const bool left = has_left(rank);
        text +=
            fmt::format("\n  rank {}: {}", rank,
                        has_called ? call_of(rank, turn) : (left ? "left" : "has not called yet"));
    }
    return text;
}

// What each rank has answered; of the others, what is known without them.
std::string Diagnosis::standings(std::uint64_t turn, std::uint32_t inquiry) const {
    std::string text;
    for (int rank = 0; rank < members_.nranks(); ++rank) {
        const auto told = answer_of(world_, members_.in_world(rank), inquiry);
        text += fmt::format("\n  rank {}: ", rank);
        if (told) {
            text += *told;
        } else if (called(rank, turn)) {
            text += fmt::format("in {}, or past it", call_of(rank, turn));
        } else {
            text += has_left(rank) ? "left" : "has not called yet";
        }
    }
    return text;
}

// ---- of this rank, in the middle of a call

std::string Diagnosis::standing() const {
    return fmt::format("in {}{}{}", own_call(), among(), own_wait());
}

std::string Diagnosis::own_call() const {
    const bool is_kernel = call_.phase == CallAtHand::Phase::kernel;
    return fmt::format("{}{} (call {})",
                       is_kernel ? "kernel " + call_.core.plan().kernel : describe(call_.stamp),
                       site_text(self_, call_.site), call_.place.turn.number);
}

// The wait that did not pass, with the value that this run makes of it, and what it sees; of a
// kernel with lanes that of each lane.
std::string Diagnosis::own_wait() const {
    constexpr std::size_t kMostLanes = 4;
    const auto note = [](const engine::Standing& here) {
        return fmt::format("\n    {}\n    {}", engine::instruction_note(here),
                           engine::reason_note(here, {}));
    };
    if (call_.phase != CallAtHand::Phase::kernel) {
        return note(engine::standing_of(call_.core)) +
               fmt::format(", waits for {}", in_world(ringer_of(call_.core.op())));
    }
    std::string text;
    std::size_t lanes = 0;
    call_.core.for_each_lane([&](std::size_t lane, std::size_t position) {
        if (++lanes > kMostLanes) return;
        engine::Standing here = engine::standing_of(call_.core);
        here.lane = lane;
        here.position = position;
        text += note(here) + ringers(position);
    });
    if (lanes > kMostLanes) text += fmt::format("\n    and {} more lanes", lanes - kMostLanes);
    return text;
}

// In a kernel of the user's a cell does not say who rings it; the others' plans do. They are made
// for the report.
std::string Diagnosis::ringers(std::size_t position) const {
    constexpr int kMostRanks = 64;
    constexpr std::size_t kMostNamed = 3;
    const auto* wait = std::get_if<Wait>(&call_.core.plan().instructions[position].action);
    const bool is_known = call_.plan_of != nullptr && *call_.plan_of;
    if (wait == nullptr || !is_known || members_.nranks() > kMostRanks) return "";
    std::vector<std::string> places;
    for (int rank = 0; rank < members_.nranks(); ++rank) {
        const Plan plan = (*call_.plan_of)(rank);
        for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
            const auto* notify = std::get_if<Notify>(&plan.instructions[i].action);
            if (notify == nullptr || notify->cell != wait->cell) continue;
            places.push_back(fmt::format("{} at instruction {}", in_world(rank), i));
        }
    }
    if (places.empty()) return "; nobody rings it";
    const std::size_t named = std::min(places.size(), kMostNamed);
    std::string text = fmt::format(
        "; rung by {}",
        fmt::join(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(named), ", "));
    if (places.size() > named) text += fmt::format(" and {} more", places.size() - named);
    return text;
}

std::string Diagnosis::in_world(int rank) const {
    return fmt::format("rank {}{}", members_.in_world(rank),
                       members_.nranks() == world_.nranks() ? "" : " of the world");
}

// A rank may be in several communicators.
std::string Diagnosis::among() const {
    constexpr int kMostNamed = 8;
    if (members_.nranks() == world_.nranks()) return "";
    if (members_.nranks() > kMostNamed) {
        return fmt::format(", among {} ranks of the world", members_.nranks());
    }
    return fmt::format(", among ranks {} of the world", fmt::join(members_.ranks, ", "));
}

}  // namespace peal::comm
