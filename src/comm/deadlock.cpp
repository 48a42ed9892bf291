// SPDX-License-Identifier: Apache-2.0
// How members of a communicator that stand still find out that all do, and for ever.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm/diagnosis.hpp"
#include "engine/standing.hpp"
#include "shm/deadline.hpp"
#include "shm/inquiry.hpp"

namespace peal::comm {
namespace {

constexpr std::uint64_t kLowHalf = 0xffffffff;

std::string deadlock_report(const std::string& standings) {
    return fmt::format("{}:{}", engine::kDeadlock, standings);
}

}  // namespace

// ---- deadlocks
//
// A rank that stands still rings nobody. So if all do, and each then looks once more and finds that
// it cannot go on, none ever will: the first to go on would need a ring of another that did so
// before. All stand still if their counters are odd before the inquiry, which makes each look once
// more, and the same after all have answered: who went on in between has counted.

// The counters of all members that are still there; nothing if one of them does not stand still.
std::optional<std::vector<std::uint64_t>> Diagnosis::all_standing() const {
    const Members& all = members_.all();
    std::vector<std::uint64_t> counters;
    for (int rank = 0; rank < all.nranks(); ++rank) {
        const std::uint64_t counter =
            all.record_of(rank).standstills.load(std::memory_order_acquire);
        const bool left = report_.has_left(all, rank);
        if (!left && counter % 2 == 0) return std::nullopt;
        counters.push_back(left ? 0 : counter);
    }
    return counters;
}

// The first of those who stand still looks, for all.
void Diagnosis::look_for_deadlock() const {
    constexpr std::chrono::milliseconds kToConfirm{1000};
    const Members& all = members_.all();
    if (all.span_hosts()) return look_for_deadlock_between_hosts();  // an inquiry is of one host
    for (int rank = 0; rank < all.rank; ++rank) {
        if (!report_.has_left(all, rank)) return;
    }
    const auto before = all_standing();
    if (!before) return;
    const std::uint32_t inquiry = ask(world_);
    const auto has_confirmed = [&](int rank) {
        const std::uint32_t confirmed =
            all.record_of(rank).confirmed.load(std::memory_order_acquire);
        return static_cast<std::int32_t>(confirmed - inquiry) >= 0;
    };
    const auto is_settled = [&] {
        answer_if_asked();
        if (has_failed() || !is_stuck() || all_standing() != before) return true;
        for (int rank = 0; rank < all.nranks(); ++rank) {
            if (!report_.has_left(all, rank) && !has_confirmed(rank)) return false;
        }
        return true;
    };
    const Clock::time_point end = shm::from_now(kToConfirm);
    while (!is_settled()) {
        if (Clock::now() >= end || world_.failed_rank() >= 0) return;
        members_.wait_until(is_settled, shm::from_now(Backoff::kNap));
    }
    for (int rank = 0; rank < all.nranks(); ++rank) {
        if (!report_.has_left(all, rank) && !has_confirmed(rank)) return;
    }
    if (has_failed() || all_standing() != before) return;
    give_up(Fault::wrong, deadlock_report(report_.standings(inquiry)));
}

// ---- deadlocks between hosts
//
// What a rank has told another host may still be on its way while both stand still. So the first
// member asks twice. A member answers with its counter, when it stands still, all that it has told
// other hosts is there (flushed), and it has looked once more and cannot go on. The first member
// asks again when it has all answers. If all answer that, too, with the counters that they had,
// each has stood still since before the second question was asked: at that moment all stood still
// and nothing was on its way; and each has looked since then. So again the first to go on would
// need a ring of another that did so before.
//
// Questions and answers are words of their owners' records, which everybody who stands still
// fetches anyway. A copy may be old, but it never shows an answer that was not given.

void Diagnosis::answer_first_member() const {
    const Members& all = members_.all();
    if (members_.are_pair()) all.far_records->refresh();
    Member& self = all.self();
    const std::uint32_t question = all.record_of(0).question.load(std::memory_order_acquire);
    const std::uint64_t standstill = self.standstills.load(std::memory_order_relaxed);
    // A question is answered once: who goes on afterwards makes the first member ask another.
    if (self.answer.load(std::memory_order_relaxed) >> 32 == question) return;
    if (standstill % 2 == 0 || !is_stuck()) return;
    if (!under_way_.told || under_way_.told->standstill != standstill) {
        under_way_.told = UnderWay::Told{standstill, {}};
        for (int member = 0; member < all.nranks(); ++member) {
            if (!all.is_far(member)) continue;
            all.job->net().flush(under_way_.told->flushed, all.in_world(member));
        }
        put(self.standing, report_.standing() + under_way_.standings(call_));
    }
    if (!under_way_.told->flushed.is_over() || !reaches_all()) return;
    const std::uint64_t answer = std::uint64_t{question} << 32 | (standstill & kLowHalf);
    self.answer.store(answer, std::memory_order_release);  // pairs with have_all_answered()
}

// What was on its way to who cannot be reached is over, too, and has not arrived.
bool Diagnosis::reaches_all() const {
    const Members& all = members_.all();
    for (int member = 0; member < all.nranks(); ++member) {
        if (all.is_far(member) && all.job->net().trouble(all.in_world(member))) return false;
    }
    return true;
}

void Diagnosis::ask_all_members() const {
    // Who sees the question sees what was told before the answers to the last one.
    members_.all().self().question.fetch_add(1, std::memory_order_acq_rel);
    ++under_way_.question->times;
}

// To the last question, with the counters of the time when it was asked first.
bool Diagnosis::have_all_answered() const {
    const Members& all = members_.all();
    const std::uint64_t question = all.self().question.load(std::memory_order_relaxed);
    for (int rank = 0; rank < all.nranks(); ++rank) {
        const std::uint64_t standstill =
            under_way_.question->standstills[static_cast<std::size_t>(rank)];
        const std::uint64_t answer = all.record_of(rank).answer.load(std::memory_order_acquire);
        if (answer != (question << 32 | (standstill & kLowHalf))) return false;
    }
    return true;
}

// What a rank that has left told others may be on its way for longer than it can be asked. So of
// those who are left nothing is said.
void Diagnosis::look_for_deadlock_between_hosts() const {
    const Members& all = members_.all();
    if (all.rank != 0 || !is_stuck()) return;
    const auto now = all_standing();
    bool are_all_here = true;
    for (int rank = 0; rank < all.nranks(); ++rank) {
        if (report_.has_left(all, rank)) are_all_here = false;
    }
    if (!now || !are_all_here) return under_way_.question.reset();
    if (!under_way_.question || under_way_.question->standstills != *now) {
        under_way_.question = UnderWay::Question{*now, 0};
        return ask_all_members();
    }
    if (!have_all_answered()) return;
    if (under_way_.question->times < 2) return ask_all_members();
    give_up(Fault::wrong, deadlock_report(report_.standings_on_hosts()));
}

}  // namespace peal::comm
