// SPDX-License-Identifier: Apache-2.0
#include "plan/draft.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "plan/access.hpp"

namespace peal::plan {
namespace {

// Calls each(number) for what may differ from period to period.
template <class AnyAction, class Each>
void for_each_number(AnyAction& action, Each&& each) {
    const auto numbers_of_sync = [&](auto& sync) {
        each(sync.cell.index);
        each(sync.value.constant);
    };
    if (auto* notify = std::get_if<Notify>(&action)) return numbers_of_sync(*notify);
    if (auto* wait = std::get_if<Wait>(&action)) return numbers_of_sync(*wait);
    for_each_range(action, [&](auto& range) { each(range.offset); });
}

std::vector<std::uint64_t> numbers_of(std::span<const Instruction> period) {
    std::vector<std::uint64_t> numbers;
    for (const Instruction& instruction : period) {
        for_each_number(instruction.action, [&](auto number) {
            numbers.push_back(static_cast<std::uint64_t>(number));
        });
    }
    return numbers;
}

void move_on(Instruction& instruction, const std::uint64_t*& move) {
    for_each_number(instruction.action, [&](auto& number) {
        using Number = std::remove_reference_t<decltype(number)>;
        number = static_cast<Number>(static_cast<std::uint64_t>(number) + *move++);
    });
}

// Where ranges of one memory that move together are, in all periods.
struct Track {
    Range memory;
    std::uint64_t move;
    std::uint64_t begin, end;

    bool is_with(const Track& other) const {
        return same_memory(memory, other.memory) && memory.shift == other.memory.shift;
    }
};

Track track_of(const Range& range, std::uint64_t move, std::uint64_t times) {
    const std::uint64_t last = range.offset + move * (times - 1);
    return {range, move, std::min(range.offset, last), std::max(range.offset, last) + range.length};
}

void add(std::vector<Track>& tracks, const Track& track) {
    const auto same = std::find_if(tracks.begin(), tracks.end(), [&](const Track& other) {
        return track.is_with(other) && track.move == other.move;
    });
    if (same == tracks.end()) return tracks.push_back(track);
    same->begin = std::min(same->begin, track.begin);
    same->end = std::max(same->end, track.end);
}

}  // namespace

std::optional<Step> Step::between(std::span<const Instruction> first,
                                  std::span<const Instruction> second) {
    std::vector<std::uint64_t> before = numbers_of(first), after = numbers_of(second);
    if (first.size() != second.size() || before.size() != after.size()) return std::nullopt;
    for (std::size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
    Step step;
    step.length_ = first.size();
    step.moves_ = std::move(after);
    const std::uint64_t* move = step.moves_.data();
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (first[i].action.index() != second[i].action.index()) return std::nullopt;
        Instruction moved = first[i];
        move_on(moved, move);
        if (moved != second[i]) return std::nullopt;
    }
    return step;
}

// Ranges that move together keep their distance; others must not meet anywhere.
bool Step::keeps_overlaps(std::span<const Instruction> first, std::uint64_t times) const {
    std::vector<Track> tracks;
    const std::uint64_t* move = moves_.data();
    for (const Instruction& instruction : first) {
        for_each_range(instruction.action, [&](const Range& range) {
            if (!is_tile(range) && range.length != 0) add(tracks, track_of(range, *move, times));
            ++move;
        });
        if (is_sync(instruction.action)) move += 2;
    }
    return std::all_of(tracks.begin(), tracks.end(), [&](const Track& track) {
        return std::none_of(tracks.begin(), tracks.end(), [&](const Track& other) {
            return track.is_with(other) && track.move != other.move && track.begin < other.end &&
                   other.begin < track.end;
        });
    });
}

void Step::append(std::vector<Instruction>& list, std::uint64_t times) const {
    list.reserve(list.size() + times * length_);
    for (; times > 0; --times) {
        const std::uint64_t* move = moves_.data();
        for (std::size_t i = 0; i < length_; ++i) {
            list.push_back(list[list.size() - length_]);
            move_on(list.back(), move);
        }
    }
}

std::size_t length_of(const Draft& draft) {
    std::size_t length = draft.plan.instructions.size();
    for (const Repeat& repeat : draft.repeats) length += (repeat.times - 2) * repeat.length;
    return length;
}

Plan written_out(Draft draft) {
    if (draft.repeats.empty()) return std::move(draft.plan);
    std::vector<Instruction> list;
    std::vector<std::uint32_t> lanes;
    list.reserve(length_of(draft));
    const auto add = [&](std::span<const Instruction> part) {
        list.insert(list.end(), part.begin(), part.end());
    };
    for_each_part(
        draft, add,
        [&](const Repeat& repeat) {
            add(first_period(draft.plan, repeat));
            add(second_period(draft.plan, repeat));
            repeat.step.append(list, repeat.times - 2);
        },
        [&] { lanes.push_back(static_cast<std::uint32_t>(list.size())); });
    draft.plan.instructions = std::move(list);
    draft.plan.lanes = std::move(lanes);
    return std::move(draft.plan);
}

}  // namespace peal::plan
