// SPDX-License-Identifier: Apache-2.0
// A plan as the specialiser writes it down: of rounds of a loop that are alike, only the first are
// there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "peal/plan.hpp"

namespace peal::plan {

// What a period is moved on by: where its ranges begin, its cells and its values.
class Step {
public:
    // From one to the other; nothing when they differ in more than that.
    static std::optional<Step> between(std::span<const Instruction> first,
                                       std::span<const Instruction> second);

    // Which ranges outside tile memory overlap is the same in each of so many periods.
    bool keeps_overlaps(std::span<const Instruction> first, std::uint64_t times) const;

    // Appends so many periods to a list that ends with the one before them.
    void append(std::vector<Instruction>& list, std::uint64_t times) const;

private:
    std::size_t length_ = 0;            // of a period
    std::vector<std::uint64_t> moves_;  // of each number, in order
};

// The instructions [begin, begin + length) and as many after them are the first two periods of
// `times`: each is the one before it moved on by the same step.
struct Repeat {
    std::size_t begin = 0;
    std::size_t length = 0;
    std::uint64_t times = 2;
    Step step;
};

struct Draft {
    Plan plan;                    // but for what is repeated
    std::vector<Repeat> repeats;  // in order, each inside a lane
};

inline std::span<const Instruction> first_period(const Plan& plan, const Repeat& repeat) {
    return std::span(plan.instructions).subspan(repeat.begin, repeat.length);
}
inline std::span<const Instruction> second_period(const Plan& plan, const Repeat& repeat) {
    return std::span(plan.instructions).subspan(repeat.begin + repeat.length, repeat.length);
}

// The parts of a draft in order: calls each(instructions) for what stands between repeats, as far
// as there is any, repeated(repeat), and lane() where a lane after the first begins.
template <class Each, class Repeated, class Lane>
void for_each_part(const Draft& draft, Each&& each, Repeated&& repeated, Lane&& lane) {
    const Plan& plan = draft.plan;
    auto repeat = draft.repeats.begin();
    for (std::size_t l = 0; l < plan.lane_count(); ++l) {
        if (l > 0) lane();
        std::size_t at = plan.lane_begin(l);
        const auto stand = [&](std::size_t end) {
            if (at < end) each(std::span(plan.instructions).subspan(at, end - at));
        };
        for (; repeat != draft.repeats.end() && repeat->begin < plan.lane_end(l); ++repeat) {
            stand(repeat->begin);
            repeated(*repeat);
            at = repeat->begin + 2 * repeat->length;
        }
        stand(plan.lane_end(l));
    }
}

// How many instructions there are when all periods are written down.
std::size_t length_of(const Draft& draft);

// The plan then.
Plan written_out(Draft draft);

}  // namespace peal::plan
