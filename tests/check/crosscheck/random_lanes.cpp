// SPDX-License-Identifier: Apache-2.0
// One or two ranks of up to three lanes each. Values travel from lane to lane, through windows,
// arguments and tiles; whoever takes one over has been told, and tells when he has taken it. Some
// of it is left out.
#include "check/crosscheck/dice.hpp"

namespace peal::test {
namespace {

class LaneWriter {
public:
    explicit LaneWriter(std::uint64_t seed) : dice_(seed), plans_(dice_.pick(1, 2)) {
        const int nranks = plans_.nranks();
        for (int rank = 0; rank < nranks; ++rank) {
            for (int l = dice_.pick(nranks == 1 ? 2 : 1, nranks == 1 ? 3 : 2); l > 0; --l) {
                lanes_.push_back({rank, {}});
            }
        }
        steps_ = dice_.pick(1, lanes_.size() > 3 ? 2 : 3);
        input_ = plans_.argument("input", Direction::in, kBytes, Element::u8);
        output_ = plans_.argument("output", Direction::out, kBytes, Element::u8);
        both_ = plans_.argument("both", Direction::inout, kBytes, Element::u8);
        data_ = plans_.window("data", kBytes, Element::u8);
        generation_ = dice_.chance(60) ? 1 : 0;
        signal_ = plans_.signal("signal", 36, generation_ * steps_ * 2);
        plans_.tile_bytes(2);
        for (Lane& lane : lanes_) lane.plan = plans_.list()[static_cast<std::size_t>(lane.rank)];
    }

    RandomProgram write() {
        const std::size_t first = any_lane();
        from_ = first;
        place_ = in(input_, lanes_[first].rank);
        for (step_ = 1; step_ <= steps_; ++step_) pass_on();
        give_back(first);
        fill_outputs();
        join(dice_.chance(35));
        RandomProgram program;
        program.stages.push_back(stage_of(plans_));
        if (has_meaning_) {
            program.stages[0].meaning = meaning_;
            program.stages[0].has_meaning = true;
        }
        program.calls = dice_.chance(50) ? 1 : 2;
        return program;
    }

private:
    static constexpr std::uint64_t kBytes = 2;
    struct Lane {
        int rank = 0;
        Plan plan;
    };

    std::size_t any_lane() {
        return static_cast<std::size_t>(dice_.pick(0, static_cast<int>(lanes_.size()) - 1));
    }
    RankPlan at(std::size_t lane) { return RankPlan(lanes_[lane].plan); }
    static Range in(std::uint16_t buffer, int rank) { return {buffer, rank, 0, kBytes}; }

    // The lane at hand leaves the value somewhere, and another goes on with it from there.
    void pass_on() {
        const std::size_t to = any_lane();
        const int mine = lanes_[from_].rank;
        const bool stays = lanes_[to].rank == mine && dice_.chance(50);
        const Range next =
            stays ? in(both_, mine) : in(data_, dice_.chance(50) ? mine : lanes_[to].rank);
        if (!(next == place_)) move(from_, next);
        if (to != from_ && dice_.chance(92)) tell(from_, to, step_);
        from_ = to;
    }

    // To memory, at once or by way of a tile.
    void move(std::size_t lane, const Range& to) {
        const Range tile = at(lane).tile(0, kBytes);
        if (dice_.chance(50)) {
            at(lane).copy(to, place_);
        } else {
            at(lane).copy(tile, place_).copy(to, tile);
        }
        place_ = to;
    }

    void tell(std::size_t from, std::size_t to, int step) {
        const auto cell = static_cast<std::uint64_t>(6 * from + to);
        const Value value{step, generation_};
        at(from).set(signal_, lanes_[to].rank, cell, value);
        const bool exact = dice_.chance(8);
        at(to).wait(signal_, cell, exact ? Compare::eq : Compare::ge, value);
    }

    // The last one keeps the value, and says so to the first, who may write again.
    void give_back(std::size_t first) {
        const int rank = lanes_[from_].rank;
        move(from_, in(output_, rank));
        kept_ = rank;
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            if (lane != from_ && dice_.chance(lane == first ? 92 : 60)) {
                tell(from_, lane, steps_ + 1);
            }
        }
        has_meaning_ = dice_.chance(70);
        Expected output;
        output.rank = rank;
        output.buffer = output_;
        output.length = kBytes;
        output.element = Element::u8;
        output.of = contributions({{lanes_[first].rank, input_, 0}});
        meaning_.outputs.push_back(output);
    }

    // The other ranks have something to show, too.
    void fill_outputs() {
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            const bool is_first = lane == 0 || lanes_[lane - 1].rank != lanes_[lane].rank;
            if (!is_first || lanes_[lane].rank == kept_) continue;
            at(lane).fill(in(output_, lanes_[lane].rank), 1, Element::u8);
        }
    }

    void join(bool spoils) {
        std::vector<Plan> all;
        for (const Lane& lane : lanes_) all.push_back(lane.plan);
        if (spoils) spoil(dice_, all);
        for (Plan& plan : plans_.list()) {
            std::vector<Plan> lanes;
            for (const Plan& lane : all) {
                if (lane.rank == plan.rank) lanes.push_back(lane);
            }
            join_lanes(plan, lanes);
        }
    }

    Dice dice_;
    Plans plans_;
    std::vector<Lane> lanes_;
    int steps_ = 1, step_ = 1, kept_ = 0;
    std::int64_t generation_ = 0;
    std::uint16_t input_ = 0, output_ = 0, both_ = 0, data_ = 0, signal_ = 0;
    std::size_t from_ = 0;
    Range place_;
    Meaning meaning_;
    bool has_meaning_ = false;
};

}  // namespace

RandomProgram random_lanes(std::uint64_t seed) { return LaneWriter(seed).write(); }

}  // namespace peal::test
