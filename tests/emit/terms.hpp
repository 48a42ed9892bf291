// SPDX-License-Identifier: Apache-2.0
// What plans compute, in the most obvious way: numbers are names of terms, ranks take turns, and
// pipes do not exist. For plans without races, whose result does not depend on the order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "plan/access.hpp"

namespace peal::pto {

// Names of terms, the same for equal ones, also across plans.
class Terms {
public:
    int input(int rank, int buffer, std::size_t index) {
        return id({"input", rank, buffer, static_cast<double>(index)});
    }
    int combined(ReduceOp op, int a, int b) { return id({name(op), a, b, 0}); }
    int mapped(MapOp op, int a, double scalar) { return id({name(op), a, 0, scalar}); }

private:
    struct Term {
        std::string_view what;
        int a, b;
        double number;
        bool operator==(const Term&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Term& term) const {
            constexpr std::size_t kOdd = 0x9e3779b97f4a7c15;
            std::size_t hash = std::hash<std::string_view>()(term.what);
            for (const int each : {term.a, term.b}) hash = (hash ^ std::size_t(each)) * kOdd;
            return (hash ^ std::hash<double>()(term.number)) * kOdd;
        }
    };
    int id(const Term& term) {
        return ids_.try_emplace(term, static_cast<int>(ids_.size()) + 1).first->second;
    }
    std::unordered_map<Term, int, Hash> ids_;
};

// f32 plans of one call on zeroed windows. Their arguments `in` are inputs.
class ObviousRun {
public:
    ObviousRun(const std::vector<Plan>& plans, Terms& terms)
        : plans_(plans), terms_(terms), next_(plans.size()), tiles_(plans.size()) {
        for (const Plan& plan : plans) {
            tiles_[static_cast<std::size_t>(plan.rank)].resize(plan.tile_bytes / 4);
            for (std::uint16_t b = 0; b < plan.buffers.size(); ++b) {
                std::vector<int>& numbers = memory_[{b, plan.rank}];
                numbers.resize(plan.buffers[b].bytes / 4);
                if (plan.buffers[b].direction != Direction::in) continue;
                for (std::size_t i = 0; i < numbers.size(); ++i) {
                    numbers[i] = terms.input(plan.rank, b, i);
                }
            }
        }
        run();
    }

    const std::vector<int>& at(std::uint16_t buffer, int rank) const {
        return memory_.at({buffer, rank});
    }

private:
    void run() {
        for (bool moved = true; moved;) {
            moved = false;
            for (const Plan& plan : plans_) {
                std::size_t& next = next_[static_cast<std::size_t>(plan.rank)];
                while (next < plan.instructions.size() && step(plan, plan.instructions[next])) {
                    ++next;
                    moved = true;
                }
            }
        }
        for (const Plan& plan : plans_) {
            if (next_[static_cast<std::size_t>(plan.rank)] < plan.instructions.size()) {
                throw std::runtime_error("the plans do not come to an end");
            }
        }
    }

    int* numbers(const Plan& plan, const Range& range) {
        std::vector<int>& memory = range.buffer == kTile
                                       ? tiles_[static_cast<std::size_t>(plan.rank)]
                                       : memory_.at({range.buffer, range.rank});
        return memory.data() + range.offset / 4;
    }

    // False: it has to wait.
    bool step(const Plan& plan, const Instruction& instruction) {
        if (const auto* copy = std::get_if<Copy>(&instruction.action)) {
            const int* from = numbers(plan, copy->src);
            std::copy(from, from + copy->src.length / 4, numbers(plan, copy->dst));
        } else if (const auto* reduce = std::get_if<Reduce>(&instruction.action)) {
            for (std::size_t i = 0; i < reduce->dst.length / 4; ++i) {
                int total = numbers(plan, reduce->src[0])[i];
                for (std::size_t s = 1; s < reduce->src.size(); ++s) {
                    total = terms_.combined(reduce->op, total, numbers(plan, reduce->src[s])[i]);
                }
                numbers(plan, reduce->dst)[i] = total;
            }
        } else if (const auto* map = std::get_if<Map>(&instruction.action)) {
            for (std::size_t i = 0; i < map->dst.length / 4; ++i) {
                const int source = !plan::has_source(map->op) ? 0 : numbers(plan, map->src)[i];
                numbers(plan, map->dst)[i] = terms_.mapped(map->op, source, map->scalar);
            }
        } else if (const auto* notify = std::get_if<Notify>(&instruction.action)) {
            const Cell& cell = notify->cell;
            cells_[{cell.buffer, cell.rank, cell.index}] = notify->value.constant;
        } else if (const auto* wait = std::get_if<Wait>(&instruction.action)) {
            const Cell& cell = wait->cell;
            return compares(cells_[{cell.buffer, cell.rank, cell.index}], wait->compare,
                            wait->value.constant);
        }
        return true;
    }

    const std::vector<Plan>& plans_;
    Terms& terms_;
    std::vector<std::size_t> next_;
    std::vector<std::vector<int>> tiles_;
    std::map<std::pair<std::uint16_t, int>, std::vector<int>> memory_;
    std::map<std::tuple<std::uint16_t, int, std::uint64_t>, std::int64_t> cells_;
};

}  // namespace peal::pto
