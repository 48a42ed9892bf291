// SPDX-License-Identifier: Apache-2.0
// Numbers of one to four bytes, of one rank or two: moved in parts, combined in one of many ways
// and mapped; then some of that is left out, moved or done to other bytes.
#include <limits>
#include <optional>

#include "check/crosscheck/dice.hpp"

namespace peal::test {
namespace {

class ElementWriter {
public:
    explicit ElementWriter(std::uint64_t seed) : dice_(seed), plans_(dice_.chance(65) ? 1 : 2) {}

    RandomProgram write() {
        const int nranks = plans_.nranks();
        element_ = dice_.one_of<Element>({Element::u8, Element::i8, Element::i16, Element::i16,
                                          Element::i32, Element::i32, Element::f32, Element::f16});
        op_ = dice_.chance(60) ? ReduceOp::sum
                               : dice_.one_of<ReduceOp>({kReduceOps.begin(), kReduceOps.end()});
        size_ = bytes_of(element_);
        bytes_ = size_ * static_cast<std::uint64_t>(dice_.pick(1, 2));
        // Inputs may begin within an element of others. It is not right to compute with those.
        // (Where they are exact numbers, f32 begin at multiples of four.)
        if (dice_.chance(30)) {
            begin_ = static_cast<std::uint64_t>(dice_.pick(0, static_cast<int>(size_)));
            if (element_ == Element::f32) begin_ = size_;
        }
        const bool is_wide = begin_ != 0 && dice_.chance(25);
        const std::uint64_t all = bytes_ + size_;
        width_ = is_wide ? all : bytes_;
        from_ = is_wide ? 0 : begin_;
        a_ = plans_.argument("a", Direction::in, all, Element::u8);
        b_ = plans_.argument("b", Direction::in, all, Element::u8);
        if (nranks == 1) c_ = plans_.argument("c", Direction::in, all, Element::u8);
        out_ = plans_.argument("out", dice_.chance(80) ? Direction::out : Direction::inout, bytes_,
                               Element::u8);
        data_ = plans_.window("data", 2 * width_, Element::u8);
        plans_.tile_bytes(kSlots * width_);
        if (nranks == 2) meeting_.emplace(dice_, plans_, "signal", 2);
        choose_wanted();
        for (int me = 0; me < nranks; ++me) write_rank(me);
        RandomStage stage = stage_of(plans_);
        if (dice_.chance(40)) spoil(dice_, stage.plans);
        if (dice_.chance(10)) spoil(dice_, stage.plans);
        give_meaning(stage);
        RandomProgram program;
        program.calls = nranks == 1 ? dice_.pick(1, 2) : dice_.chance(20) ? 2 : 1;
        program.stages.push_back(std::move(stage));
        return program;
    }

private:
    static constexpr std::uint64_t kSlots = 7;

    // Whose inputs are combined.
    void choose_wanted() {
        std::vector<Contribution> all;
        for (int rank = 0; rank < plans_.nranks(); ++rank) {
            all.push_back({rank, a_, begin_});
            all.push_back({rank, b_, begin_});
            if (plans_.nranks() == 1) all.push_back({rank, c_, begin_});
        }
        dice_.shuffle(all);
        const int count = dice_.chance(15) ? 1 : dice_.pick(2, 3);
        wanted_.assign(all.begin(), all.begin() + count);
        in_order_ = dice_.chance(15);
    }

    void write_rank(int me) {
        RankPlan rank = plans_.on(me);
        slot_ = 0;
        if (meeting_) {
            move(rank, rank.in(data_, 0, width_), rank.in(a_, from_, width_));
            move(rank, rank.in(data_, width_, width_), rank.in(b_, from_, width_));
            meeting_->meet(plans_, me, 0);
        }
        std::vector<Range> operands;
        for (const Contribution& from : wanted_) operands.push_back(operand(rank, me, from));
        if (dice_.chance(30)) add_junk(rank, operands);
        if (!in_order_ && dice_.chance(50)) dice_.shuffle(operands);
        combine(rank, operands);
        if (meeting_) meeting_->meet(plans_, me, 1);
    }

    Range next_slot(const RankPlan& rank) {
        const std::uint64_t slot = std::min<std::uint64_t>(slot_++, kSlots - 2);
        return rank.tile(slot * width_, width_);
    }

    void move(RankPlan& rank, const Range& dst, const Range& src) {
        if (dice_.chance(50)) {
            copy_in_parts(dice_, rank, dst, src);
        } else {
            rank.copy(dst, src);
        }
    }

    Range operand(RankPlan& rank, int me, const Contribution& from) {
        const bool is_mine = from.rank == me;
        Range range = rank.in(from.buffer, from_, width_);
        if (!is_mine)
            range = RankPlan::at(from.rank, data_, from.buffer == a_ ? 0 : width_, width_);
        if (dice_.chance(45)) {
            const Range slot = next_slot(rank);
            move(rank, slot, range);
            range = slot;
        }
        return range;
    }

    // Nobody needs what comes of it.
    void add_junk(RankPlan& rank, const std::vector<Range>& operands) {
        const Range junk = rank.tile((kSlots - 1) * width_, width_);
        const Range source = dice_.one_of(operands);
        switch (dice_.pick(1, 5)) {
            case 1: rank.map(MapOp::add_scalar, junk, source, 1, element_); break;
            case 2: rank.map(MapOp::mul_scalar, junk, source, 2, element_); break;
            case 3:
                rank.map(MapOp::row_sum, {junk.buffer, junk.rank, junk.offset, size_}, source, 0,
                         element_);
                break;
            case 4: {
                Range half = source;
                if (size_ == 2) half.length = width_ / 2;
                rank.convert(junk, element_, half, size_ == 2 ? Element::i8 : element_);
                break;
            }
            default: rank.clobber(junk); break;
        }
    }

    double neutral() const {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        if (op_ == ReduceOp::sum) return 0;
        if (op_ == ReduceOp::prod) return 1;
        const bool least = op_ == ReduceOp::max;
        if (is_float(element_)) return least ? -kInfinity : kInfinity;
        if (element_ == Element::u8) return least ? 0 : 255;
        const double half = static_cast<double>(std::int64_t{1} << (8 * size_ - 1));
        return least ? -half : half - 1;
    }

    void combine(RankPlan& rank, const std::vector<Range>& operands) {
        const Range out = rank.in(out_, 0, bytes_);
        const bool goes_by_slot = width_ != bytes_ || dice_.chance(50);
        const Range target = goes_by_slot ? next_slot(rank) : out;
        const int way = dice_.pick(1, 4);
        if (operands.size() == 1 && dice_.chance(70)) {
            move(rank, target, operands[0]);
        } else if (way == 1) {
            rank.reduce(target, operands, op_, element_);
        } else if (way == 2) {
            fold(rank, operands, target);
        } else if (way == 3 && operands.size() > 2) {
            const Range slot = next_slot(rank);
            rank.reduce(slot, {operands[0], operands[1]}, op_, element_);
            std::vector<Range> rest = {slot, operands[2]};
            if (!in_order_ && dice_.chance(50)) std::swap(rest[0], rest[1]);
            rank.reduce(target, rest, op_, element_);
        } else if (op_ == ReduceOp::sum && !in_order_) {
            const Range slot = next_slot(rank);
            const bool zero = dice_.chance(60);
            if (zero) rank.fill(slot, 0, dice_.chance(50) ? element_ : Element::u8);
            if (!zero) move(rank, slot, operands[0]);
            for (std::size_t i = zero ? 0 : 1; i < operands.size(); ++i) {
                rank.accumulate(slot, operands[i], element_);
            }
            move(rank, target, slot);
        } else {
            fold(rank, operands, target);
        }
        if (goes_by_slot) move(rank, out, rank.tile(target.offset + begin_ - from_, bytes_));
    }

    void fold(RankPlan& rank, const std::vector<Range>& operands, const Range& target) {
        const bool from_neutral = dice_.chance(40);
        const Range sum = next_slot(rank);
        if (from_neutral) {
            rank.fill(sum, neutral(), element_);
        } else {
            move(rank, sum, operands[0]);
        }
        for (std::size_t i = from_neutral ? 0 : 1; i < operands.size(); ++i) {
            if (operands[i] == sum) continue;
            rank.reduce(sum, {sum, operands[i]}, op_, element_);
        }
        if (!(sum == target)) move(rank, target, sum);
    }

    void give_meaning(RandomStage& stage) {
        stage.has_meaning = dice_.chance(95);
        Meaning& meaning = stage.meaning;
        meaning.name = "combination";
        meaning.in_order = in_order_;
        meaning.same_bits = dice_.chance(30);
        meaning.commutes = meaning.same_bits && dice_.chance(50);
        const Contributions of = contributions(wanted_);
        const bool reduces = wanted_.size() > 1 || dice_.chance(50);
        for (std::size_t rank = 0; rank < stage.plans.size(); ++rank) {
            meaning.outputs.push_back(
                {static_cast<std::int32_t>(rank), out_, 0, bytes_, of, op_, element_, reduces});
        }
    }

    Dice dice_;
    Plans plans_;
    Element element_ = Element::u8;
    ReduceOp op_ = ReduceOp::sum;
    std::uint64_t size_ = 1, bytes_ = 1, slot_ = 0;
    // Where inputs begin; from where and how much of them is computed with.
    std::uint64_t begin_ = 0, from_ = 0, width_ = 1;
    std::uint16_t a_ = 0, b_ = 0, c_ = 0, out_ = 0, data_ = 0;
    bool in_order_ = false;
    std::vector<Contribution> wanted_;
    std::optional<Meeting> meeting_;
};

}  // namespace

RandomProgram random_elements(std::uint64_t seed) { return ElementWriter(seed).write(); }

}  // namespace peal::test
