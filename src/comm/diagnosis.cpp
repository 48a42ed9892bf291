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
#include "comm/told_counts.hpp"
#include "engine/standing.hpp"
#include "shm/deadline.hpp"
#include "shm/inquiry.hpp"

namespace peal::comm {
namespace {

constexpr std::chrono::milliseconds kMoment{200};

constexpr std::uint64_t kLowHalf = 0xffffffff;

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

// What `rank` called in `turn`; nothing if it has not called yet. Acquire: pairs with log().
std::optional<Stamp> Diagnosis::called(int rank, std::uint64_t turn) const {
    const LogEntry& entry = members_.log_of(rank).entries[turn % CallLog::kEntries];
    if (entry.turns.load(std::memory_order_acquire) != turn + 1) return std::nullopt;
    return Stamp{entry.call.load(std::memory_order_relaxed),
                 entry.windows.load(std::memory_order_relaxed)};
}

// As far back as a call can have gone unnoticed: every rank has heard from all since then.
void Diagnosis::expect_same_calls(int rank) const {
    if (members_.is_far(rank)) ask_other_hosts();
    const std::uint64_t end = call_.place.turn.number + 1;
    for (std::uint64_t turn = end - std::min(end, Turns::kMostSlots); turn < end; ++turn) {
        if (called(rank, turn) != called(members_.rank, turn)) tell_mismatch(turn);
    }
}

// Of those who left the world without having been in the communicator at all, the world knows.
// Acquire: pairs with leave().
bool Diagnosis::has_left(const Members& members, int rank) const {
    // A rank on another host is heard of in one way only, which tells first what it called.
    if (members.is_far(rank)) return members.record_of(rank).has_left.load();
    const RankRecord& record = world_.header().ranks[members.in_world(rank)];
    return record.state.load(std::memory_order_acquire) == RankState::left ||
           members.record_of(rank).has_left.load(std::memory_order_acquire);
}

// Returns with what they say now: what is under way may be old, so they are asked once more.
void Diagnosis::ask_other_hosts() const {
    FarRecords& records = *members_.far_records;
    const auto is_over = [&] { return records.is_over() || has_failed(); };
    const Clock::time_point begin = Clock::now();
    for (int answers = 0; answers < 2; ++answers) {
        records.refresh();
        while (members_.wait_until(is_over, next_look(begin)) == Waited::deadline) {
            members_.job->look();
            if (Clock::now() >= deadline_after(begin, under_way_.timeout)) time_out();
        }
        if (world_.failed_rank() >= 0) fail_by_alarm();
        if (has_failed()) fail_as_reported();
    }
    records.refresh();
}

void Diagnosis::tell_mismatch(std::uint64_t turn) const {
    give_up(Fault::wrong, "the ranks made different calls:" + calls_of_all(turn));
}

void Diagnosis::look_for_members() const {
    const std::uint64_t turn = call_.place.turn.number;
    for (int rank = 0; rank < members_.nranks(); ++rank) {
        const bool left = has_left(rank);  // first: what it called before counts
        const std::optional<Stamp> stamp = called(rank, turn);
        if (stamp && *stamp != call_.stamp) tell_mismatch(turn);
        if (left && !stamp) {
            give_up(Fault::wrong,
                    fmt::format("rank {} has left the communicator while others still call it:{}",
                                members_.name_of(rank), calls_of_all(turn)));
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
    if (members_.all().span_hosts()) answer_first_member();
    if (under_way_.watch) ask_watch();
    look_for_deadlock();
    if (Clock::now() >= deadline_after(wait_began, under_way_.timeout)) time_out();
}

// What is known of members on other hosts comes late, and each time all of it.
void Diagnosis::look_to_other_hosts() const {
    members_.far_records->refresh();
    for (int member = 0; member < members_.nranks(); ++member) {
        if (!members_.is_far(member) || has_left(member)) continue;
        const auto why = members_.job->net().trouble(members_.in_world(member));
        if (why) fail_to_reach_host(members_.in_world(member), *why);
    }
}

void Diagnosis::look_for_far(int member, Clock::time_point wait_began) const {
    members_.job->look();
    look_to_other_hosts();
    const std::string name = members_.job->name_of(members_.in_world(member));
    if (has_left(member)) {
        give_up(Fault::wrong, fmt::format("{} has left the communicator while rank {} still calls "
                                          "it",
                                          name, members_.name_of(members_.rank)));
    }
    if (Clock::now() < deadline_after(wait_began, under_way_.timeout)) return;
    give_up(Fault::bound, fmt::format("timeout: rank {} waited too long for {} to answer",
                                      members_.name_of(members_.rank), name));
}

// The others are told before the call ends here.
void Diagnosis::ask_watch() const {
    try {
        under_way_.watch();
    } catch (...) {
        if (world_.failed_rank() < 0) {
            tell(Fault::wrong, fmt::format("rank {} was interrupted while others wait for it:{}",
                                           members_.name_of(members_.rank),
                                           calls_of_all(call_.place.turn.number)));
        }
        if (!under_way_.broken) under_way_.broken = "a call was interrupted";
        let_go();
        throw;
    }
}

Clock::time_point Diagnosis::next_look(Clock::time_point wait_began) const {
    return std::min(from_now(Backoff::kNap), deadline_after(wait_began, under_way_.timeout));
}

// The memory of a process is gone a moment before its death is known.
void Diagnosis::fail_to_reach(int peer) const {
    const int reason = errno;
    const auto is_told = [this] { return has_failed(); };
    members_.wait_until(is_told, from_now(kMoment));
    give_up(Fault::wrong,
            fmt::format("cannot copy from or to the buffer of rank {}: {}; is every rank's buffer "
                        "memory that can be read and written?{}",
                        members_.name_of(peer), std::strerror(reason),
                        calls_of_all(call_.place.turn.number)));
}

// Whoever looks after the ranks knows more of it a moment later.
void Diagnosis::fail_to_reach_host(int rank, const std::string& why) const {
    constexpr std::chrono::milliseconds kToHear{1000};
    const auto is_told = [this] {
        members_.job->look();
        return has_failed();
    };
    const Clock::time_point end = from_now(kToHear);
    while (!is_told() && world_.failed_rank() < 0 && Clock::now() < end) {
        members_.wait_until(is_told, std::min(end, from_now(Backoff::kNap)));
    }
    give_up(Fault::wrong,
            fmt::format("{} cannot be reached any more: {}:{}", members_.job->name_of(rank), why,
                        calls_of_all(call_.place.turn.number)));
}

void Diagnosis::answer_if_asked() const {
    const std::uint32_t inquiry = world_.header().inquiry.load(std::memory_order_acquire);
    std::atomic<std::uint32_t>& confirmed = members_.self().confirmed;
    if (confirmed.load(std::memory_order_relaxed) == inquiry || !is_stuck()) return;
    look_for_all_members();  // what is found there goes before a deadlock
    answer(world_, members_.self_in_world(), standing() + under_way_.standings(call_));
    confirmed.store(inquiry, std::memory_order_release);  // pairs with look_for_deadlock()
}

bool Diagnosis::is_stuck() const { return call_.core.is_blocked() && !under_way_.can_go_on(call_); }

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
        const bool left = has_left(all, rank);
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
        if (!has_left(all, rank)) return;
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
            if (!has_left(all, rank) && !has_confirmed(rank)) return false;
        }
        return true;
    };
    const Clock::time_point end = from_now(kToConfirm);
    while (!is_settled()) {
        if (Clock::now() >= end || world_.failed_rank() >= 0) return;
        members_.wait_until(is_settled, from_now(Backoff::kNap));
    }
    for (int rank = 0; rank < all.nranks(); ++rank) {
        if (!has_left(all, rank) && !has_confirmed(rank)) return;
    }
    if (has_failed() || all_standing() != before) return;
    give_up(Fault::wrong, "deadlock: no rank can go on:" + standings(inquiry));
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
    const std::uint64_t answer = std::uint64_t{question} << 32 | (standstill & kLowHalf);
    if (question == 0 || self.answer.load(std::memory_order_relaxed) == answer) return;
    if (standstill % 2 == 0 || !is_stuck()) return;
    if (!under_way_.told || under_way_.told->standstill != standstill) {
        under_way_.told = UnderWay::Told{standstill, {}};
        for (int member = 0; member < all.nranks(); ++member) {
            if (!all.is_far(member)) continue;
            all.job->net().flush(under_way_.told->flushed, all.in_world(member));
        }
        put(self.standing, standing() + under_way_.standings(call_));
    }
    if (!under_way_.told->flushed.is_over()) return;
    self.answer.store(answer, std::memory_order_release);  // pairs with have_all_answered()
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
        if (has_left(all, rank)) are_all_here = false;
    }
    if (!now || !are_all_here) return under_way_.question.reset();
    if (!under_way_.question || under_way_.question->standstills != *now) {
        under_way_.question = UnderWay::Question{*now, 0};
        return ask_all_members();
    }
    if (!have_all_answered()) return;
    if (under_way_.question->times < 2) return ask_all_members();
    give_up(Fault::wrong, "deadlock: no rank can go on:" + standings_on_hosts());
}

std::string Diagnosis::standings_on_hosts() const {
    const Members& all = members_.all();
    std::string text;
    for (int rank = 0; rank < all.nranks(); ++rank) {
        text += fmt::format("\n  rank {} on host {}: {}", rank,
                            all.job->meeting().host_of(all.in_world(rank)),
                            shm::text_of(all.record_of(rank).standing));
    }
    return text;
}

// Who may still tell where it stands. Who has not come to this call may wait elsewhere, or be busy.
bool Diagnosis::may_answer(int rank, std::uint32_t inquiry) const {
    const Members& all = members_.all();
    return !all.is_far(rank) && !has_left(all, rank) &&
           !answer_of(world_, all.in_world(rank), inquiry);
}

// Asks all where they stand before it ends the call for all: then nobody would know any more.
void Diagnosis::time_out() const {
    constexpr std::chrono::milliseconds kToAnswer{1000}, kToAnswerFromElsewhere{100};
    const std::uint64_t turn = call_.place.turn.number;
    const std::uint32_t inquiry = ask(world_);
    const Clock::time_point begin = Clock::now();
    const auto is_told = [&] {
        answer_if_asked();
        const bool hears_all = Clock::now() < begin + kToAnswerFromElsewhere;
        for (int rank = 0; rank < members_.all().nranks(); ++rank) {
            const bool counts = hears_all || (!members_.are_pair() && called(rank, turn));
            if (counts && may_answer(rank, inquiry)) return has_failed();
        }
        return true;
    };
    while (!is_told() && Clock::now() < begin + kToAnswer && world_.failed_rank() < 0) {
        members_.wait_until(is_told, from_now(Backoff::kNap));
    }
    give_up(Fault::bound, fmt::format("timeout: rank {} waited too long:{}",
                                      members_.name_of(members_.rank), standings(inquiry)));
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
    const Clock::time_point patience = from_now(kMoment);
    while (head_.failure.load(std::memory_order_acquire) == CommonHead::being_told) {
        if (world_.failed_rank() >= 0 && Clock::now() >= patience) fail_by_death();
        relax();
    }
    fail(static_cast<Fault>(head_.fault.load(std::memory_order_relaxed)),
         std::string(shm::text_of(head_.story)));
}

// A rank that died of what this communicator had already failed of is not the cause: who sees its
// death sees that failure.
void Diagnosis::fail_by_alarm(const std::string& where) const {
    if (has_failed()) fail_as_reported();
    fail_by_death(where);
}

void Diagnosis::fail_by_death(const std::string& where) const {
    const int dead = world_.failed_rank();
    const bool has_hosts = members_.job != nullptr && members_.job->spans_hosts();
    const std::string host =
        has_hosts ? fmt::format(" on host {}", members_.job->meeting().host_of(dead)) : "";
    fail(Fault::wrong,
         fmt::format("rank {}{}{} died; rank {} was in {}", dead, of_the_world(), host,
                     members_.name_of(members_.rank), where.empty() ? call_at_hand() : where));
}

std::string Diagnosis::call_at_hand() const {
    switch (call_.phase) {
        case CallAtHand::Phase::idle: return "no call";
        case CallAtHand::Phase::kernel: return own_call() + own_wait();
        default: return own_call();
    }
}

void Diagnosis::fail(Fault fault, const std::string& message) const {
    if (!under_way_.broken) under_way_.broken = message;
    let_go();
    throw Error(fault, message);
}

void Diagnosis::let_go() const {
    const bool shows_buffer = call_.routine != nullptr && call_.routine->staging == Staging::reach;
    if (shows_buffer && call_.phase != CallAtHand::Phase::idle) peers_.wait_for_copiers();
    call_.phase = CallAtHand::Phase::idle;
}

// `rank` has called in that turn. Its site is read after its turn, as called() says.
std::string Diagnosis::call_of(int rank, std::uint64_t turn) const {
    const LogEntry& entry = members_.log_of(rank).entries[turn % CallLog::kEntries];
    const std::uint32_t site = entry.site.load(std::memory_order_relaxed);
    return text_of(called(rank, turn).value_or(Stamp{}), rank) +
           site_text(members_.record_of(rank), site);
}

std::string Diagnosis::calls_of_all(std::uint64_t turn) const {
    std::string text;
    const bool is_descending = members_.name_of(0) > members_.name_of(members_.nranks() - 1);
    for (int i = 0; i < members_.nranks(); ++i) {
        const int rank = is_descending ? members_.nranks() - 1 - i : i;
        const bool has_called = called(rank, turn).has_value();
        const bool left = has_left(rank);
        text +=
            fmt::format("\n  rank {}: {}", members_.name_of(rank),
                        has_called ? call_of(rank, turn) : (left ? "left" : "has not called yet"));
    }
    return text;
}

// What each rank of the communicator has answered; of the others, what is known without them.
std::string Diagnosis::standings(std::uint32_t inquiry) const {
    const Members& all = members_.all();
    std::string text;
    for (int rank = 0; rank < all.nranks(); ++rank) {
        const auto told = answer_of(world_, all.in_world(rank), inquiry);
        text += fmt::format("\n  rank {}: {}", rank, told ? *told : known_of(rank));
    }
    return text;
}

std::string Diagnosis::known_of(int rank) const {
    const std::uint64_t turn = call_.place.turn.number;
    if (has_left(members_.all(), rank)) return "left";
    if (members_.are_pair()) return "waits in no call";
    return called(rank, turn) ? fmt::format("in {}, or past it", call_of(rank, turn))
                              : "has not called yet";
}

// ---- of this rank, in the middle of a call

std::string Diagnosis::standing() const {
    return fmt::format("in {}{}{}", own_call(), among(), own_wait());
}

std::string Diagnosis::own_call() const {
    const bool is_kernel = call_.phase == CallAtHand::Phase::kernel;
    const std::string text =
        (is_kernel ? "kernel " + call_.core.plan().kernel : text_of(call_.stamp, members_.rank)) +
        site_text(members_.self(), call_.site);
    // The turns of a pair are nobody's calls.
    if (members_.are_pair()) return text;
    return text + fmt::format(" (call {})", call_.place.turn.number);
}

std::string Diagnosis::text_of(const Stamp& stamp, int member) const {
    if (!members_.are_pair())
        return describe(stamp, told_counts(members_.record_of(member), stamp));
    return describe_message(stamp, member == 0, members_.name_of(1 - member));
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
    return fmt::format("rank {}{}", members_.in_world(rank), of_the_world());
}

std::string_view Diagnosis::of_the_world() const {
    return members_.all().nranks() == world_.nranks() ? "" : " of the world";
}

// A rank may be in several communicators.
std::string Diagnosis::among() const {
    constexpr int kMostNamed = 8;
    const std::vector<int>& ranks = members_.all().ranks;
    if (members_.all().nranks() == world_.nranks()) return "";
    if (members_.all().nranks() > kMostNamed) {
        return fmt::format(", among {} ranks of the world", ranks.size());
    }
    return fmt::format(", among ranks {} of the world", fmt::join(ranks, ", "));
}

}  // namespace peal::comm
