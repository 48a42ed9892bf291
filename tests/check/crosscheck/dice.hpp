// SPDX-License-Identifier: Apache-2.0
// What the writers of random programs have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "check/crosscheck/random_programs.hpp"
#include "check/plans.hpp"

namespace peal::test {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15 + 1) {}

    int pick(int least, int most) {
        return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
    }
    bool chance(int percent) { return pick(1, 100) <= percent; }
    template <class T>
    const T& one_of(const std::vector<T>& list) {
        return list[static_cast<std::size_t>(pick(0, static_cast<int>(list.size()) - 1))];
    }
    template <class T>
    void shuffle(std::vector<T>& list) {
        for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_() % i]);
    }

private:
    std::mt19937_64 random_;
};

// Buffers hold bytes, whatever is computed with them.
inline RandomStage stage_of(Plans& plans) {
    RandomStage stage;
    stage.plans = std::move(plans.list());
    for (Plan& plan : stage.plans) {
        for (Buffer& buffer : plan.buffers) {
            if (buffer.kind != BufferKind::signal) buffer.element = Element::u8;
        }
    }
    return stage;
}

inline Contributions contributions(std::vector<Contribution> list) {
    return std::make_shared<const std::vector<Contribution>>(std::move(list));
}

// Copies in up to three parts, in any order.
void copy_in_parts(Dice& dice, RankPlan rank, const Range& dst, const Range& src);

// Changes one instruction somewhere, or takes it out, or puts one in.
void spoil(Dice& dice, std::vector<Plan>& plans);
// Swaps neighbours, or takes one out that is no flag.
void spoil_order(Dice& dice, std::vector<Plan>& plans);

// Ranks that wait for each other, in one of many ways, several times in each call.
class Meeting {
public:
    // Those of the same `way` may share a signal buffer of the same name.
    Meeting(Dice& dice, Plans& plans, const std::string& name, int phases);
    Meeting(Plans& plans, const std::string& name, int phases, int way, std::uint64_t stride,
            Element element, std::int64_t base);

    static constexpr int kWays = 10;
    static int any_way(Dice& dice);

    void notify(Plans& plans, int me, int peer, int phase) const;
    void wait(Plans& plans, int me, int peer, int phase) const;
    // With all others.
    void meet(Plans& plans, int me, int phase) const;

private:
    std::uint64_t cell(int writer, int phase) const;
    void create(Plans& plans, const std::string& name, std::uint64_t stride, Element element);

    int nranks_, phases_, way_;
    std::int64_t base_ = 0;
    std::uint16_t signal_ = 0;
};

}  // namespace peal::test
