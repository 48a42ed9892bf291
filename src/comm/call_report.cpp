// SPDX-License-Identifier: Apache-2.0
#include "comm/call_report.hpp"

#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/sites.hpp"
#include "comm/told_details.hpp"
#include "engine/standing.hpp"
#include "shm/inquiry.hpp"

namespace peal::comm {

std::optional<Stamp> CallReport::called(int rank, std::uint64_t turn) const {
    const LogEntry& entry = members_.log_of(rank).entries[turn % CallLog::kEntries];
    if (entry.turns.load(std::memory_order_acquire) != turn + 1) return std::nullopt;
    return Stamp{entry.call.load(std::memory_order_relaxed),
                 entry.windows.load(std::memory_order_relaxed)};
}

// Of those who left the world without having been in the communicator at all, the world knows.
bool CallReport::has_left(const Members& members, int rank) const {
    // A rank on another host is heard of in one way only, which tells first what it called.
    if (members.is_far(rank)) return members.record_of(rank).has_left.load();
    const RankRecord& record = members_.world->header().ranks[members.in_world(rank)];
    return record.state.load(std::memory_order_acquire) == RankState::left ||
           members.record_of(rank).has_left.load(std::memory_order_acquire);
}

// A rank of the communicator.
std::string CallReport::named(int rank) const {
    const Members& all = members_.all();
    if (!all.span_hosts()) return fmt::format("rank {}", rank);
    return fmt::format("rank {} on host {}", rank, all.job->meeting().host_of(all.in_world(rank)));
}

std::string CallReport::name_of(int member) const { return named(members_.name_of(member)); }

// `rank` has called in that turn. Its site is read after its turn, as called() says.
std::string CallReport::call_of(int rank, std::uint64_t turn) const {
    const LogEntry& entry = members_.log_of(rank).entries[turn % CallLog::kEntries];
    const std::uint32_t site = entry.site.load(std::memory_order_relaxed);
    return text_of(called(rank, turn).value_or(Stamp{}), rank) +
           site_text(members_.record_of(rank), site);
}

std::string CallReport::calls_of_all(std::uint64_t turn) const {
    std::string text;
    const bool is_descending = members_.name_of(0) > members_.name_of(members_.nranks() - 1);
    for (int i = 0; i < members_.nranks(); ++i) {
        const int rank = is_descending ? members_.nranks() - 1 - i : i;
        const bool has_called = called(rank, turn).has_value();
        const bool left = has_left(rank);
        text +=
            fmt::format("\n  {}: {}", name_of(rank),
                        has_called ? call_of(rank, turn) : (left ? "left" : "has not called yet"));
    }
    return text;
}

// What each rank of the communicator has answered; of the others, what is known without them.
std::string CallReport::standings(std::uint32_t inquiry) const {
    const Members& all = members_.all();
    std::string text;
    for (int rank = 0; rank < all.nranks(); ++rank) {
        const auto told = answer_of(*members_.world, all.in_world(rank), inquiry);
        text += fmt::format("\n  {}: {}", named(rank), told ? *told : known_of(rank));
    }
    return text;
}

std::string CallReport::known_of(int rank) const {
    const std::uint64_t turn = call_.place.turn.number;
    if (has_left(members_.all(), rank)) return "left";
    if (members_.are_pair()) return "waits in no call";
    return called(rank, turn) ? fmt::format("in {}, or past it", call_of(rank, turn))
                              : "has not called yet";
}

// ---- of this rank, in the middle of a call

std::string CallReport::call_at_hand() const {
    switch (call_.phase) {
        case CallAtHand::Phase::idle: return "no call";
        case CallAtHand::Phase::kernel: return own_call() + own_wait();
        default: return own_call();
    }
}

std::string CallReport::standing() const {
    return fmt::format("in {}{}{}", own_call(), among(), own_wait());
}

std::string CallReport::own_call() const {
    const bool is_kernel = call_.phase == CallAtHand::Phase::kernel;
    const std::string text =
        (is_kernel ? "kernel " + call_.core.plan().kernel : text_of(call_.stamp, members_.rank)) +
        site_text(members_.self(), call_.site);
    // The turns of a pair are nobody's calls.
    if (members_.are_pair()) return text;
    return text + fmt::format(" (call {})", call_.place.turn.number);
}

std::string CallReport::text_of(const Stamp& stamp, int member) const {
    if (!members_.are_pair())
        return describe(stamp, told_details(members_.record_of(member), stamp));
    return describe_message(stamp, member == 0, members_.name_of(1 - member));
}

// The wait that did not pass, with the value that this run makes of it, and what it sees; of a
// kernel with lanes that of each lane.
std::string CallReport::own_wait() const {
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
std::string CallReport::ringers(std::size_t position) const {
    constexpr int kMostRanks = 64;
    const auto* wait = std::get_if<Wait>(&call_.core.plan().instructions[position].action);
    const bool is_known = call_.plan_of != nullptr && *call_.plan_of;
    if (wait == nullptr || !is_known || members_.nranks() > kMostRanks) return "";
    engine::PlannedRingers ringers(wait->cell);
    for (int rank = 0; rank < members_.nranks(); ++rank) {
        ringers.add((*call_.plan_of)(rank), in_world(rank));
    }
    return "; " + ringers.text();
}

std::string CallReport::in_world(int rank) const {
    return fmt::format("rank {}{}", members_.in_world(rank), of_the_world());
}

std::string_view CallReport::of_the_world() const {
    return members_.all().nranks() == members_.world->nranks() ? "" : " of the world";
}

// A rank may be in several communicators.
std::string CallReport::among() const {
    constexpr int kMostNamed = 8;
    const std::vector<int>& ranks = members_.all().ranks;
    if (members_.all().nranks() == members_.world->nranks()) return "";
    if (members_.all().nranks() > kMostNamed) {
        return fmt::format(", among {} ranks of the world", ranks.size());
    }
    return fmt::format(", among ranks {} of the world", fmt::join(ranks, ", "));
}

std::string CallReport::standings_on_hosts() const {
    const Members& all = members_.all();
    std::string text;
    for (int rank = 0; rank < all.nranks(); ++rank) {
        text += fmt::format("\n  {}: {}", named(rank), shm::text_of(all.record_of(rank).standing));
    }
    return text;
}

}  // namespace peal::comm
