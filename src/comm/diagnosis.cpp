// SPDX-License-Identifier: Apache-2.0
#include "comm/diagnosis.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "hosts/link.hpp"
#include "shm/deadline.hpp"
#include "shm/inquiry.hpp"
#include "shm/question.hpp"
#include "shm/timeout.hpp"

namespace peal::comm {
namespace {

constexpr std::chrono::milliseconds kMoment{200};

constexpr char kFailure = 'f';  // the first byte of a letter

// Whether this is the first to tell.
bool tell_here(const Members& all, Fault fault, std::string_view story) {
    CommonHead& head = all.common.head();
    std::uint32_t none = CommonHead::none;
    if (!head.failure.compare_exchange_strong(none, CommonHead::being_told,
                                              std::memory_order_acq_rel)) {
        return false;
    }
    put(head.story, story);
    head.fault.store(static_cast<std::uint32_t>(fault), std::memory_order_relaxed);
    // Pairs with fail_as_reported().
    head.failure.store(CommonHead::told, std::memory_order_release);
    for (const int member : all.ranks) all.world->wake(member);
    return true;
}

}  // namespace

std::string failure_letter(Fault fault, const std::string& story) {
    return std::string{kFailure, static_cast<char>(fault)} + story;
}

bool is_failure(std::string_view letter) { return letter.size() >= 2 && letter[0] == kFailure; }

void hear_failure(const Members& members, std::string_view letter) {
    tell_here(members, static_cast<Fault>(letter[1]), letter.substr(2));
}

void Diagnosis::leave() const {
    members_.self().has_left.store(true, std::memory_order_release);  // pairs with has_left()
    for (const int member : members_.ranks) ring_if_asleep(world_, member);
}

void Diagnosis::refuse() const {
    if (under_way_.broken) {
        fail(Fault::wrong, "the communicator is broken: " + *under_way_.broken);
    }
    if (has_failed()) fail_as_reported();
    fail_by_alarm();
}

// As far back as a call can have gone unnoticed: every rank has heard from all since then.
void Diagnosis::expect_same_calls(int rank) const {
    if (members_.is_far(rank)) ask_other_host(rank);
    const std::uint64_t end = call_.place.turn.number + 1;
    for (std::uint64_t turn = end - std::min(end, Turns::kMostSlots); turn < end; ++turn) {
        if (report_.called(rank, turn) != report_.called(members_.rank, turn)) tell_mismatch(turn);
    }
}

// Returns with what it says now: what is under way may be old, so it is asked once more.
void Diagnosis::ask_other_host(int rank) const {
    FarRecords& records = *members_.far_records;
    const auto is_over = [&] { return records.is_over(rank) || has_failed(); };
    const Clock::time_point begin = Clock::now();
    for (int answers = 0; answers < 2; ++answers) {
        records.refresh();
        while (members_.wait_until(is_over, next_look(begin)) == Waited::deadline) {
            members_.job->look();
            if (Clock::now() >= shm::deadline_after(begin, under_way_.timeout)) time_out();
        }
        if (world_.failed_rank() >= 0) fail_by_alarm();
        if (has_failed()) fail_as_reported();
    }
    records.refresh();
}

// The same of all, for a report. Who computes does not answer, and is not waited for.
void Diagnosis::hear_other_hosts() const {
    FarRecords* const records = members_.far_records.get();
    if (records == nullptr) return;
    const auto is_over = [&] { return records->is_over() || has_failed(); };
    const Clock::time_point end = shm::from_now(kMoment);
    for (int answers = 0; answers < 2; ++answers) {
        records->refresh();
        members_.wait_until(is_over, end);
    }
    records->refresh();
}

void Diagnosis::tell_mismatch(std::uint64_t turn) const {
    hear_other_hosts();
    give_up(Fault::wrong, "the ranks made different calls:" + report_.calls_of_all(turn));
}

void Diagnosis::look_for_members() const {
    const std::uint64_t turn = call_.place.turn.number;
    for (int rank = 0; rank < members_.nranks(); ++rank) {
        const bool left = report_.has_left(rank);  // first: what it called before counts
        const std::optional<Stamp> stamp = report_.called(rank, turn);
        if (stamp && *stamp != call_.stamp) tell_mismatch(turn);
        if (left && !stamp) {
            hear_other_hosts();
            give_up(Fault::wrong,
                    fmt::format("{} has left the communicator while others still call it:{}",
                                report_.name_of(rank), report_.calls_of_all(turn)));
        }
    }
}

void Diagnosis::look_for_all_members() const {
    look_for_members();
    under_way_.look_for_members(call_);
}

void Diagnosis::look_around(Clock::time_point wait_began) const {
    if (members_.job != nullptr) members_.job->look();
    if (members_.span_hosts()) look_to_other_hosts();
    look_for_all_members();
    answer_if_asked();
    answer_question();
    if (members_.all().span_hosts()) answer_first_member();
    if (under_way_.watch) ask_watch();
    look_for_deadlock();
    if (Clock::now() >= shm::deadline_after(wait_began, under_way_.timeout)) time_out();
}

// What is known of members on other hosts comes late, and each time all of it.
void Diagnosis::look_to_other_hosts() const {
    members_.far_records->refresh();
    for (int member = 0; member < members_.nranks(); ++member) {
        if (!members_.is_far(member) || report_.has_left(member)) continue;
        const auto why = members_.job->net().trouble(members_.in_world(member));
        if (why) fail_to_reach_host(members_.in_world(member), *why);
    }
}

void Diagnosis::look_for_far(int member, Clock::time_point wait_began) const {
    members_.job->look();
    look_to_other_hosts();
    const std::string name = report_.name_of(member);
    if (report_.has_left(member)) {
        give_up(Fault::wrong, fmt::format("{} has left the communicator while rank {} still calls "
                                          "it",
                                          name, members_.name_of(members_.rank)));
    }
    if (Clock::now() < shm::deadline_after(wait_began, under_way_.timeout)) return;
    give_up(Fault::bound, fmt::format("timeout: rank {} waited too long for {} to answer",
                                      members_.name_of(members_.rank), name));
}

// The others are told before the call ends here.
void Diagnosis::ask_watch() const {
    try {
        under_way_.ask_watch();
    } catch (...) {
        if (world_.failed_rank() < 0) {
            tell(Fault::wrong, fmt::format("rank {} was interrupted while others wait for it:{}",
                                           members_.name_of(members_.rank),
                                           report_.calls_of_all(call_.place.turn.number)));
        }
        if (!under_way_.broken) under_way_.broken = "a call was interrupted";
        let_go();
        throw;
    }
}

Clock::time_point Diagnosis::next_look(Clock::time_point wait_began) const {
    return std::min(shm::from_now(Backoff::kNap),
                    shm::deadline_after(wait_began, under_way_.timeout));
}

// The memory of a process is gone a moment before its death is known.
void Diagnosis::fail_to_reach(int peer) const {
    const int reason = errno;
    const auto is_told = [this] { return has_failed(); };
    members_.wait_until(is_told, shm::from_now(kMoment));
    give_up(Fault::wrong,
            fmt::format("cannot copy from or to the buffer of rank {}: {}; is every rank's buffer "
                        "memory that can be read and written?{}",
                        members_.name_of(peer), std::strerror(reason),
                        report_.calls_of_all(call_.place.turn.number)));
}

// Whoever looks after the ranks knows more of it a moment later.
void Diagnosis::fail_to_reach_host(int rank, const std::string& why) const {
    const auto is_told = [this] {
        members_.job->look();
        return has_failed();
    };
    const Clock::time_point end = shm::from_now(hosts::kLossIsTold);
    while (!is_told() && world_.failed_rank() < 0 && Clock::now() < end) {
        members_.wait_until(is_told, std::min(end, shm::from_now(Backoff::kNap)));
    }
    give_up(Fault::wrong,
            fmt::format("{} cannot be reached any more: {}:{}", members_.job->name_of(rank), why,
                        report_.calls_of_all(call_.place.turn.number)));
}

void Diagnosis::answer_if_asked() const {
    const std::uint32_t inquiry = world_.header().inquiry.load(std::memory_order_acquire);
    std::atomic<std::uint32_t>& confirmed = members_.self().confirmed;
    if (confirmed.load(std::memory_order_relaxed) == inquiry || !is_stuck()) return;
    look_for_all_members();  // what is found there goes before a deadlock
    answer(world_, members_.self_in_world(), report_.standing() + under_way_.standings(call_));
    confirmed.store(inquiry, std::memory_order_release);  // pairs with look_for_deadlock()
}

bool Diagnosis::is_stuck() const { return call_.core.is_blocked() && !under_way_.can_go_on(call_); }

// Who may still tell where it stands. Who has not come to this call may wait elsewhere, or be busy.
bool Diagnosis::may_answer(int rank, std::uint32_t inquiry) const {
    const Members& all = members_.all();
    return !all.is_far(rank) && !report_.has_left(all, rank) &&
           !answer_of(world_, all.in_world(rank), inquiry);
}

// Asks them. Who computes does not answer, and is not waited for long.
std::string Diagnosis::standings_of_all() const {
    constexpr std::chrono::milliseconds kToAnswer{1000}, kToAnswerFromElsewhere{100};
    const std::uint64_t turn = call_.place.turn.number;
    const std::uint32_t inquiry = ask(world_);
    const Clock::time_point begin = Clock::now();
    const auto is_told = [&] {
        answer_if_asked();
        const bool hears_all = Clock::now() < begin + kToAnswerFromElsewhere;
        for (int rank = 0; rank < members_.all().nranks(); ++rank) {
            const bool counts = hears_all || (!members_.are_pair() && report_.called(rank, turn));
            if (counts && may_answer(rank, inquiry)) return has_failed();
        }
        return true;
    };
    while (!is_told() && Clock::now() < begin + kToAnswer && world_.failed_rank() < 0) {
        members_.wait_until(is_told, shm::from_now(Backoff::kNap));
    }
    hear_other_hosts();
    return report_.standings(inquiry);
}

// Whom a signal has asked, of all that wait in this process.
void Diagnosis::answer_question() const {
    if (!shm::take_question()) return;
    fmt::print(stderr, "peal: who waits for whom, asked of rank {}:{}\n",
               members_.name_of(members_.rank), standings_of_all());
}

// All are asked before the call ends for all: then nobody would know any more.
void Diagnosis::time_out() const {
    const std::string standings = standings_of_all();
    give_up(Fault::bound, fmt::format("timeout: rank {} waited too long:{}",
                                      members_.name_of(members_.rank), standings));
}

// The first to give up says why for all. Where a rank has died before that, whatever else is found
// follows from it: who was told of it has left.
void Diagnosis::give_up(Fault fault, const std::string& story) const {
    if (world_.failed_rank() >= 0) fail_by_alarm();
    tell(fault, story);
    fail_as_reported();
}

void Diagnosis::tell(Fault fault, const std::string& story) const {
    if (tell_here(members_.all(), fault, story)) tell_other_hosts(fault, story);
}

// Each of their members tells those of its host.
void Diagnosis::tell_other_hosts(Fault fault, const std::string& story) const {
    const Members& all = members_.all();
    for (int member = 0; member < all.nranks(); ++member) {
        if (all.is_far(member)) all.far_parts->post(member, failure_letter(fault, story));
    }
}

// Whoever is telling needs a few instructions; if it does not get to them, it was killed.
void Diagnosis::fail_as_reported() const {
    const Clock::time_point deadline = shm::from_now(kMoment);
    while (head_.failure.load(std::memory_order_acquire) == CommonHead::being_told) {
        if (world_.failed_rank() >= 0 && Clock::now() >= deadline) fail_by_death();
        shm::relax();
    }
    fail(static_cast<Fault>(head_.fault.load(std::memory_order_relaxed)),
         std::string(shm::text_of(head_.story)));
}

// A rank that died of what this communicator had already failed of is not the cause: who sees its
// death sees that failure.
void Diagnosis::fail_by_alarm() const {
    if (has_failed()) fail_as_reported();
    fail_by_death();
}

void Diagnosis::fail_by_death() const {
    const std::string& opening = under_way_.opening;
    fail(Fault::wrong, fmt::format("{}; rank {} was in {}", story_of_loss(world_.failed_rank()),
                                   members_.name_of(members_.rank),
                                   opening.empty() ? report_.call_at_hand() : opening));
}

// A rank on another host may be there and only out of reach: whoever brings the ranks together
// knows it, and tells this one a moment later than those that raise the alarm.
std::string Diagnosis::story_of_loss(int lost) const {
    const std::string name = fmt::format("rank {}{}", lost, report_.of_the_world());
    const auto& job = members_.job;
    if (job == nullptr) return name + " died";
    const auto story = job->is_far(lost)
                           ? job->loss_heard_of_until(shm::from_now(hosts::kLossIsTold))
                           : job->loss_heard_of();
    if (story && !story->empty()) return *story;
    if (!job->spans_hosts()) return name + " died";
    return fmt::format("{} on host {} died", name, job->meeting().host_of(lost));
}

void Diagnosis::fail(Fault fault, const std::string& message) const {
    if (!under_way_.broken) under_way_.broken = message;
    let_go();
    throw Error(fault, message);
}

void Diagnosis::let_go() const {
    const bool is_collective =
        call_.phase == CallAtHand::Phase::meeting || call_.phase == CallAtHand::Phase::carrying;
    const bool shows_buffer =
        is_collective && call_.routine != nullptr && call_.routine->staging == Staging::reach;
    if (shows_buffer) peers_.wait_for_copiers();
    call_.phase = CallAtHand::Phase::idle;
}

}  // namespace peal::comm
