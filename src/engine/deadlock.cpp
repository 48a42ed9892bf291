// SPDX-License-Identifier: Apache-2.0
#include "engine/deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "engine/place.hpp"

namespace peal {
namespace {

constexpr std::size_t kMostRanksNamed = 3;

struct Ringer {
    std::size_t rank;
    std::size_t instruction;
};

using CellKey = std::tuple<std::uint16_t, std::int32_t, std::uint64_t>;
CellKey key_of(const Cell& cell) { return {cell.buffer, cell.rank, cell.index}; }

const Instruction& current(const Core& core) { return core.plan().instructions[core.position()]; }

// Who rings the cells that ranks wait for. One look at each instruction, however many ranks wait.
class Ringers {
public:
    explicit Ringers(std::span<const Core> cores) {
        for (const Core& core : cores) {
            if (core.is_done()) continue;
            const auto* wait = std::get_if<Wait>(&current(core).action);
            if (wait != nullptr) by_cell_.try_emplace(key_of(wait->cell));
        }
        for (std::size_t rank = 0; rank < cores.size(); ++rank) {
            add(rank, cores[rank].plan().instructions);
        }
    }

    const std::vector<Ringer>& of(const Cell& cell) const { return by_cell_.at(key_of(cell)); }

private:
    void add(std::size_t rank, const std::vector<Instruction>& instructions) {
        for (std::size_t i = 0; i < instructions.size(); ++i) {
            const auto* notify = std::get_if<Notify>(&instructions[i].action);
            if (notify == nullptr) continue;
            const auto found = by_cell_.find(key_of(notify->cell));
            if (found != by_cell_.end()) found->second.push_back({rank, i});
        }
    }

    std::map<CellKey, std::vector<Ringer>> by_cell_;  // in order of rank, then instruction
};

class Report {
public:
    explicit Report(std::span<const Core> cores)
        : cores_(cores), ringers_(cores), rank_width_(std::to_string(cores.size() - 1).size()) {}

    std::string text() const {
        std::string text = "deadlock: no rank can go on";
        for (std::size_t rank = 0; rank < cores_.size(); ++rank) {
            text += fmt::format("\n  rank {:>{}}  {}", rank, rank_width_, standing(cores_[rank]));
        }
        return text;
    }

private:
    std::string standing(const Core& core) const {
        if (core.is_done()) return "finished";
        const std::string indent(2 + 5 + rank_width_ + 2, ' ');  // as "  rank N  "
        return fmt::format("instruction {}  {}{}\n{}{}", core.position(), instruction_text(core),
                           source_note(core.plan(), current(core)), indent, reason(core));
    }

    // With the value that this run's generation makes of it.
    static std::string instruction_text(const Core& core) {
        Instruction shown = current(core);
        if (auto* wait = std::get_if<Wait>(&shown.action)) {
            wait->value = {core.value_of(core.op()), 0};
        }
        return to_text(shown, core.plan());
    }

    std::string reason(const Core& core) const {
        const auto* wait = std::get_if<Wait>(&current(core).action);
        if (wait == nullptr) return "no set_flag came before it";
        return fmt::format("sees {}; {}", core.seen(core.op()), blame(wait->cell));
    }

    std::string blame(const Cell& cell) const {
        const std::vector<Ringer>& all = ringers_.of(cell);
        if (all.empty()) return "no rank ever rings it";
        const std::vector<Ringer> ahead = first_of_each_rank(all);
        if (!ahead.empty()) return "still to ring it: " + listed(ahead);
        return "no notify is left; already rung by " + listed(last_of_each_rank(all));
    }

    bool is_ahead(const Ringer& ringer) const {
        return ringer.instruction >= cores_[ringer.rank].position();
    }

    // The next notify of each rank that has one left.
    std::vector<Ringer> first_of_each_rank(const std::vector<Ringer>& ringers) const {
        std::vector<Ringer> result;
        for (const Ringer& ringer : ringers) {
            if (!is_ahead(ringer)) continue;
            if (result.empty() || result.back().rank != ringer.rank) result.push_back(ringer);
        }
        return result;
    }

    static std::vector<Ringer> last_of_each_rank(const std::vector<Ringer>& ringers) {
        std::vector<Ringer> result;
        for (const Ringer& ringer : ringers) {
            if (!result.empty() && result.back().rank == ringer.rank) result.pop_back();
            result.push_back(ringer);
        }
        return result;
    }

    std::string listed(const std::vector<Ringer>& ringers) const {
        std::string text;
        for (std::size_t i = 0; i < std::min(ringers.size(), kMostRanksNamed); ++i) {
            const auto& [rank, instruction] = ringers[i];
            const Core& core = cores_[rank];
            text += fmt::format(
                "{}rank {} at instruction {} ({})", i > 0 ? ", " : "", rank, instruction,
                core.is_done() ? "finished" : fmt::format("now at {}", core.position()));
        }
        if (ringers.size() > kMostRanksNamed) {
            const std::size_t more = ringers.size() - kMostRanksNamed;
            text += fmt::format(" and {} more rank{}", more, more == 1 ? "" : "s");
        }
        return text;
    }

    std::span<const Core> cores_;
    Ringers ringers_;
    std::size_t rank_width_;
};

}  // namespace

std::string deadlock_report(std::span<const Core> cores) { return Report(cores).text(); }

}  // namespace peal
