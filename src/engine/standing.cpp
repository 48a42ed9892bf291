// SPDX-License-Identifier: Apache-2.0
#include "engine/standing.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/signal_value.hpp"

namespace peal::engine {
namespace {

constexpr std::size_t kMostNamed = 3;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t";
    const std::size_t first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

const Wait* wait_of(const Standing& standing) {
    return std::get_if<Wait>(&standing.plan->instructions[standing.position].action);
}

// As in the run; what no number can hold stays as it is written.
Value value_now(const Standing& standing, const Cell& cell, const Value& value) {
    const auto number = plan::value_in(value, standing.memory[cell.buffer].generation);
    return number ? Value{*number, 0} : value;
}

std::byte* address_of(const Standing& standing, const Cell& cell) {
    const BoundBuffer& memory = standing.memory[cell.buffer];
    return memory.base + static_cast<std::uint64_t>(cell.rank) * memory.rank_stride +
           cell.index * standing.plan->buffers[cell.buffer].cell_stride;
}

std::int64_t seen(const Standing& standing, const Cell& cell) {
    std::byte* const at = address_of(standing, cell);
    return standing.plan->buffers[cell.buffer].element == Element::i64
               ? detail::atomic_at<std::int64_t>(at).load(std::memory_order_acquire)
               : detail::atomic_at<std::int32_t>(at).load(std::memory_order_acquire);
}

// "rank 1 at instruction 7, rank 2 at instruction 5 and 3 more".
std::string listed(const std::vector<std::string>& places) {
    const auto named = static_cast<std::ptrdiff_t>(std::min(places.size(), kMostNamed));
    std::string text = fmt::format("{}", fmt::join(places.begin(), places.begin() + named, ", "));
    if (places.size() > kMostNamed) text += fmt::format(" and {} more", places.size() - kMostNamed);
    return text;
}

std::string place_of(const std::string& rank_name, std::size_t instruction) {
    return fmt::format("{} at instruction {}", rank_name, instruction);
}

// One rank's notifies of a cell, around where it stands: the next one, and the last one before.
struct Ringer {
    const Standing* standing;
    std::size_t instruction;
};

class Ringers {
public:
    Ringers(const std::byte* cell, const std::vector<Standing>& all) {
        for (const Standing& standing : all) {
            const std::vector<Instruction>& all_lanes = standing.plan->instructions;
            const std::span<const Instruction> instructions(
                all_lanes.begin() +
                    static_cast<std::ptrdiff_t>(standing.plan->lane_begin(standing.lane)),
                all_lanes.begin() +
                    static_cast<std::ptrdiff_t>(standing.plan->lane_end(standing.lane)));
            const std::size_t first = standing.plan->lane_begin(standing.lane);
            const auto rings = [&](const Instruction& instruction) {
                const auto* notify = std::get_if<Notify>(&instruction.action);
                return notify != nullptr && address_of(standing, notify->cell) == cell;
            };
            const auto here =
                instructions.begin() + static_cast<std::ptrdiff_t>(standing.position - first);
            const auto note = [&](std::vector<Ringer>& list, auto at) {
                list.push_back(
                    {&standing, first + static_cast<std::size_t>(at - instructions.begin())});
            };
            const auto next = std::find_if(here, instructions.end(), rings);
            if (next != instructions.end()) note(ahead_, next);
            const auto last =
                std::find_if(std::make_reverse_iterator(here), instructions.rend(), rings);
            if (last != instructions.rend()) note(behind_, last.base() - 1);
        }
    }

    std::string text() const {
        if (!ahead_.empty()) return "still to ring it: " + listed(ahead_);
        if (!behind_.empty()) return "no notify is left; already rung by " + listed(behind_);
        return "nobody is left to ring it";
    }

private:
    static std::string listed(const std::vector<Ringer>& ringers) {
        std::vector<std::string> places;
        for (const auto& [standing, instruction] : ringers) {
            const std::string progress = !standing->progress.empty() ? standing->progress
                                         : standing->is_done()
                                             ? "finished"
                                             : fmt::format("now at {}", standing->position);
            places.push_back(
                fmt::format("{} ({})", place_of(standing->title, instruction), progress));
        }
        return engine::listed(places);
    }

    std::vector<Ringer> ahead_, behind_;
};

}  // namespace

Standing standing_of(const Core& core) {
    const Plan& plan = core.plan();
    const std::string lane = plan.lanes.empty() ? "" : fmt::format(", lane {}", core.lane());
    return {&plan,
            core.memory(),
            core.position(),
            core.lane(),
            fmt::format("rank {}{}", plan.rank, lane),
            ""};
}

std::string lane_note(const Plan& plan, std::size_t lane) {
    return plan.lanes.empty() ? "" : fmt::format("lane {}  ", lane);
}

std::string source_note(const Plan& plan, const Instruction& instruction) {
    if (!plan.source || instruction.line == 0) return {};
    return fmt::format("   ({}: \"{}\")", plan.source->full_place(instruction.line),
                       trimmed(plan.source->line(instruction.line)));
}

std::string instruction_note(const Standing& standing) {
    Instruction shown = standing.plan->instructions[standing.position];
    if (auto* wait = std::get_if<Wait>(&shown.action)) {
        wait->value = value_now(standing, wait->cell, wait->value);
    } else if (auto* notify = std::get_if<Notify>(&shown.action)) {
        notify->value = value_now(standing, notify->cell, notify->value);
    }
    return fmt::format("{}instruction {}  {}{}", lane_note(*standing.plan, standing.lane),
                       standing.position, to_text(shown, *standing.plan),
                       source_note(*standing.plan, shown));
}

bool is_stuck(const Standing& standing) {
    const Wait* wait = wait_of(standing);
    return wait == nullptr || !compares(seen(standing, wait->cell), wait->compare,
                                        value_now(standing, wait->cell, wait->value).constant);
}

std::string reason_note(const Standing& standing, const std::vector<Standing>& all) {
    const Wait* wait = wait_of(standing);
    if (wait == nullptr) {
        const Instruction& at = standing.plan->instructions[standing.position];
        const bool is_flag = std::holds_alternative<WaitFlag>(at.action);
        return is_flag ? "no set_flag came before it" : "waits for another host to answer";
    }
    const std::string what = fmt::format("sees {}", seen(standing, wait->cell));
    if (all.empty()) return what;
    return fmt::format("{}; {}", what, Ringers(address_of(standing, wait->cell), all).text());
}

void PlannedRingers::add(const Plan& plan, const std::string& rank_name) {
    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
        const auto* notify = std::get_if<Notify>(&plan.instructions[i].action);
        if (notify != nullptr && notify->cell == cell_) places_.push_back(place_of(rank_name, i));
    }
}

std::string PlannedRingers::text() const {
    return places_.empty() ? "nobody rings it" : "rung by " + listed(places_);
}

void StandingReport::add(int rank, const std::string& doing, const Standing& standing,
                         const std::vector<Standing>& all) {
    const std::string indent(2 + 5 + width_ + 2, ' ');  // as "  rank N  "
    add(rank, fmt::format("{}{}{}\n{}{}", doing, doing.empty() ? "" : "  ",
                          instruction_note(standing), indent, reason_note(standing, all)));
}

void StandingReport::add(int rank, const std::string& state) {
    text_ += fmt::format("\n  rank {:>{}}  {}", rank, width_, state);
}

}  // namespace peal::engine
