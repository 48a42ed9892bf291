// SPDX-License-Identifier: Apache-2.0
#include "check/repeat.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "check/signal_rules.hpp"

namespace peal::checker {
namespace {

std::uint32_t first_op_of(const Agent& agent, std::uint32_t call) {
    const auto at =
        std::lower_bound(agent.ops.begin(), agent.ops.end(), call,
                         [](const Op& op, std::uint32_t limit) { return op.call < limit; });
    return static_cast<std::uint32_t>(at - agent.ops.begin());
}

bool are_alike(const Op& a, const Op& b, std::uint32_t round) {
    return a.kind == b.kind && a.origin == b.origin && a.notify == b.notify &&
           a.compare == b.compare && a.is_flag == b.is_flag && a.may_be_stale == b.may_be_stale &&
           a.call + round == b.call && a.index == b.index && a.cell == b.cell &&
           (a.kind != OpKind::data || a.value == b.value);
}

bool same(const std::vector<Piece>& a, const std::vector<Piece>& b, std::size_t i) {
    return i < a.size() && i < b.size() && a[i].begin == b[i].begin && a[i].end == b[i].end &&
           a[i].content == b[i].content;
}

}  // namespace

Repetition::Repetition(const Model& model)
    : model_(model),
      round_(static_cast<std::uint32_t>(model.stages->size()) * model.turn_rounds),
      rounds_(model.calls / round_),
      growth_(model.cells.size()) {
    follow_cells();
}

void Repetition::give_up(std::string why) {
    is_alike_ = false;
    if (why_not_.empty()) why_not_ = std::move(why);
}

// The last two rounds of the model, op by op.
void Repetition::follow_cells() {
    for (AgentId id = 0; id < model_.agents.size(); ++id) {
        const Agent& agent = model_.agents[id];
        const std::uint32_t before = first_op_of(agent, model_.calls - 2 * round_);
        const std::uint32_t after = first_op_of(agent, model_.calls - round_);
        const auto end = static_cast<std::uint32_t>(agent.ops.size());
        ops_per_round_.push_back(end - after);
        if (end - after != after - before) {
            return give_up("a rank does not do the same in every call");
        }
        for (std::uint32_t i = 0; i < end - after; ++i) {
            follow({id, before + i}, {id, after + i});
            if (!is_alike_) return;
        }
    }
    for (CellId cell = 0; cell < growth_.size(); ++cell) {
        if (growth_[cell].known && growth_[cell].by < 0) {
            give_up(fmt::format("the waits for {} ask for less in each call",
                                text_of_cell(model_, cell)));
        }
    }
}

void Repetition::follow(Event before, Event after) {
    const Op& op = model_.op(after);
    if (!are_alike(model_.op(before), op, round_)) {
        return give_up(fmt::format("{} is not like the call before", text_of(model_, after)));
    }
    if (op.kind == OpKind::data) return;
    Growth& growth = growth_[op.cell];
    const std::int64_t by = op.value - model_.op(before).value;
    const bool adds = op.kind == OpKind::notify && op.notify == NotifyOp::add;
    if (adds) {
        (op.value < 0 ? growth.taken : growth.added) += std::abs(op.value);
        if (by != 0) give_up(fmt::format("{} adds more in each call", text_of(model_, after)));
        return;
    }
    if (model_.cells[op.cell].waiters.empty()) {
        growth.by = std::max(growth.by, by);
        growth.down = std::min(growth.down, by);
        return;
    }
    if (growth.known && growth.by != by) {
        return give_up(fmt::format("{} and others count on {} to grow by different amounts",
                                   text_of(model_, after), text_of_cell(model_, op.cell)));
    }
    growth.known = true;
    growth.by = by;
    if (op.kind != OpKind::wait) return;
    growth.least_wait = growth.is_awaited ? std::min(growth.least_wait, op.value) : op.value;
    growth.is_awaited = true;
}

// From this round on (counted from 0) every wait for a value that grows asks for more than nothing.
bool Repetition::is_settled(std::uint32_t round) const {
    return std::all_of(growth_.begin(), growth_.end(), [&](const Growth& growth) {
        if (!growth.is_awaited || growth.by == 0) return true;
        const auto rounds_back = static_cast<std::int64_t>(rounds_ - 1 - round);
        return growth.least_wait - growth.by * rounds_back > 0;
    });
}

bool Repetition::repeats(std::uint32_t rounds, const CausalRun& run, AccessHistory& history,
                         const SymbolicMemory& memory, TermTable& terms) {
    if (!is_alike_) return false;
    std::vector<std::int64_t> drift;
    for (const Growth& growth : growth_) drift.push_back(growth.by * rounds);
    Standing now;
    run.describe(drift, now.signals);
    history.describe(model_, run.clocks(), now.accesses);
    now.windows = memory.windows();
    // Whoever makes so many rounds and no more ends here. (What is run once has no next run.)
    if (rounds > 1 && !run.ends_right()) {
        give_up("cells do not end every round where the next one expects them");
        return false;
    }
    const bool is_next = rounds_before_ != 0 && rounds_before_ + 1 == rounds;
    const bool repeats = is_next && holds_the_same(now, terms);
    if (repeats) count_rounds_that_fit(rounds, run);
    before_ = std::move(now);
    rounds_before_ = rounds;
    return repeats && why_not_.empty();
}

bool Repetition::holds_the_same(const Standing& now, TermTable& terms) {
    why_not_.clear();
    may_settle_ = false;
    for (std::size_t w = 0; w < now.windows.size(); ++w) {
        const auto& [region, pieces] = now.windows[w];
        std::vector<Piece> shifted = before_.windows[w].second;
        for (Piece& piece : shifted) piece.content = terms.later(piece.content, round_);
        for (std::size_t i = 0; i < std::max(shifted.size(), pieces.size()); ++i) {
            if (same(shifted, pieces, i)) continue;
            const Piece& piece = i < pieces.size() ? pieces[i] : shifted[i];
            why_not_ = fmt::format("{} keeps what earlier calls left there",
                                   text_of(model_.regions[region], piece.begin, piece.end));
            return false;
        }
    }
    if (!is_settled(rounds_before_)) {
        why_not_ = "a wait asks for nothing yet in the first calls";
    } else if (now.signals != before_.signals || now.accesses != before_.accesses) {
        why_not_ = "what ranks know of each other still changes from call to call";
    }
    may_settle_ = !why_not_.empty();
    return !may_settle_;
}

// ---------------------------------------------------------------------------- cells that overflow

void Repetition::count_rounds_that_fit(std::uint32_t rounds, const CausalRun& run) {
    // Fewer are no proof of any number; more than these nobody makes.
    constexpr std::uint64_t kFew = 1000;
    CellId first = kNone;
    for (CellId cell = 0; cell < growth_.size(); ++cell) {
        if (model_.cells[cell].role != CellRole::signal) continue;
        const std::uint64_t fit = rounds_that_fit(cell, rounds, run);
        if (fit == 0 || (rounds_that_fit_ != 0 && fit >= rounds_that_fit_)) continue;
        rounds_that_fit_ = fit;
        first = cell;
    }
    if (first == kNone || rounds_that_fit_ >= kFew) return;
    why_not_ = fmt::format("{} overflows after {} rounds of calls", text_of_cell(model_, first),
                           rounds_that_fit_);
    rounds_that_fit_ = 0;
}

// 0: any number.
std::uint64_t Repetition::rounds_that_fit(CellId cell, std::uint32_t rounds,
                                          const CausalRun& run) const {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
    const CellInfo& info = model_.cells[cell];
    const Growth& growth = growth_[cell];
    if (info.element != Element::i32) return 0;
    // What is so far from the end after these rounds comes so much closer in each.
    const auto until = [](std::int64_t after, std::int64_t room, std::int64_t by) {
        return by <= 0 ? 0
                       : static_cast<std::uint64_t>(std::max<std::int64_t>(1, after + room / by));
    };
    if (info.waiters.empty()) {
        // Nobody looks at it: whatever comes first.
        const std::uint64_t up = until(rounds_, kMost - info.most, growth.added + growth.by);
        const std::uint64_t down = until(rounds_, info.least - kLeast, growth.taken - growth.down);
        return up == 0 || down == 0 ? std::max(up, down) : std::min(up, down);
    }
    if (info.taker == kNone) return until(rounds, kMost - run.value(cell), growth.by);
    const std::optional<std::uint64_t> behind = rounds_behind(info, run);
    if (growth.by != 0 || !behind) return until(0, kMost, growth.added);
    const std::int64_t peak =
        run.value(cell) + growth.added * static_cast<std::int64_t>(*behind + 1);
    const bool fits = peak <= kMost && run.least_value(cell) - growth.taken >= kLeast;
    return fits ? 0 : 1;
}

// Who adds knows at the end of a round that the one who takes back has ended all but so many.
std::optional<std::uint64_t> Repetition::rounds_behind(const CellInfo& cell,
                                                       const CausalRun& run) const {
    std::uint64_t most = 0;
    for (const AgentId writer : cell.writers) {
        const std::uint32_t known = run.clocks().row(writer)[cell.taker];
        if (known == 0) return std::nullopt;
        const std::uint32_t ago = run.clocks().ago({cell.taker, known}) - 1;
        most = std::max<std::uint64_t>(most, ago / ops_per_round_[cell.taker] + 1);
    }
    return most;
}

std::uint64_t Repetition::memory_bytes() const {
    std::uint64_t bytes =
        (before_.signals.size() + before_.accesses.size()) * sizeof(std::uint64_t);
    for (const auto& [region, pieces] : before_.windows) bytes += pieces.size() * sizeof(Piece);
    return bytes;
}

}  // namespace peal::checker
