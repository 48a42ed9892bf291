// SPDX-License-Identifier: Apache-2.0
#include "check/tile_overlap.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "plan/access.hpp"
#include "plan/interval_map.hpp"

namespace peal::checker {
namespace {

constexpr std::uint32_t kNobody = 0xffffffff;

class OverlapSearch {
public:
    explicit OverlapSearch(const Plan& plan)
        : plan_(plan), writer_of_(plan.tile_bytes, kNobody), written_(plan.instructions.size()) {}

    std::vector<TileOverlap> run(std::size_t lane) && {
        const auto end = static_cast<std::uint32_t>(plan_.lane_end(lane));
        for (auto first = static_cast<std::uint32_t>(plan_.lane_begin(lane)); first < end;) {
            std::uint32_t last = first + 1;
            while (last < end && plan_.instructions[last].joined) ++last;
            take(first, last);
            first = last;
        }
        return std::move(found_);
    }

private:
    using Span = TileOverlap::Span;

    // What an operation reads as one of its operands.
    struct Operand {
        Span hull;
        std::set<std::uint32_t> writers;  // the operations that its bytes come from
    };

    bool is_in_tiles(const Range& range) const {
        return plan::is_tile(range) && range.length != 0 && plan::end_of(range) <= plan_.tile_bytes;
    }

    static void extend(Span& hull, const Range& range) {
        const bool is_empty = hull.begin == hull.end;
        hull.begin = is_empty ? range.offset : std::min(hull.begin, range.offset);
        hull.end = is_empty ? plan::end_of(range) : std::max(hull.end, plan::end_of(range));
    }

    // The operation that consists of the instructions [first, last).
    void take(std::uint32_t first, std::uint32_t last) {
        std::vector<Operand> operands;
        written_[first].instruction = first;
        for (std::uint32_t i = first; i < last; ++i) {
            std::size_t number = 0;
            plan::for_each_access(
                plan_.instructions[i].action,
                [&](const Range& range) {
                    if (number == operands.size()) operands.push_back({{first}, {}});
                    read(operands[number++], range);
                },
                [&](const Range& range) {
                    if (is_in_tiles(range)) extend(written_[first], range);
                });
        }
        for (const Operand& operand : operands) judge(operand);
        for (std::uint32_t i = first; i < last; ++i) {
            plan::for_each_access(
                plan_.instructions[i].action, [](const Range&) {},
                [&](const Range& range) {
                    if (is_in_tiles(range))
                        writer_of_.assign(range.offset, plan::end_of(range), first);
                });
        }
    }

    void read(Operand& operand, const Range& range) const {
        if (!is_in_tiles(range)) return;
        extend(operand.hull, range);
        writer_of_.visit(range.offset, plan::end_of(range),
                         [&](std::uint64_t, std::uint64_t, std::uint32_t writer) {
                             if (writer != kNobody) operand.writers.insert(writer);
                         });
    }

    // The latest write is the most likely culprit.
    void judge(const Operand& operand) {
        if (operand.writers.size() < 2) return;
        for (auto writer = operand.writers.rbegin(); writer != operand.writers.rend(); ++writer) {
            const Span& written = written_[*writer];
            if (!reaches_over(written, operand.hull)) continue;
            const auto lines = std::make_pair(sort_of(operand.hull.instruction), sort_of(*writer));
            if (seen_.insert(lines).second) {
                found_.push_back({operand.hull, written, writer != --operand.writers.rend()});
            }
            return;
        }
    }

    // Both have bytes of their own.
    static bool reaches_over(const Span& written, const Span& read) {
        const bool is_inside = read.begin <= written.begin && written.end <= read.end;
        const bool is_around = written.begin <= read.begin && read.end <= written.end;
        return !is_inside && !is_around;
    }

    std::uint64_t sort_of(std::uint32_t instruction) const {
        const std::uint32_t line = plan_.instructions[instruction].line;
        return line != 0 ? std::uint64_t{line} << 32 : instruction;
    }

    const Plan& plan_;
    plan::IntervalMap<std::uint32_t> writer_of_;  // by byte, the first instruction of the operation
    std::vector<Span> written_;                   // by operation, as above
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
    std::vector<TileOverlap> found_;
};

}  // namespace

std::vector<TileOverlap> overlapping_tiles(const Plan& plan, std::size_t lane) {
    return OverlapSearch(plan).run(lane);
}

}  // namespace peal::checker
