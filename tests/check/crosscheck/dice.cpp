// SPDX-License-Identifier: Apache-2.0
#include "check/crosscheck/dice.hpp"

namespace peal::test {
namespace {

// The ways to meet.
enum Way : int {
    kSetAtLeast,
    kSetMore,
    kAddAtLeast,
    kSetAtMost,  // downwards
    kSetLess,
    kSumAtLeast,  // all peers add to one cell
    kAddExactly,
    kSetExactly,
    kSetOther,  // until it is no more what it was
    kAddMuch,   // large steps
};

constexpr std::int64_t kMost = 2147483647;
constexpr std::int64_t kThird = 715827882;

}  // namespace

void copy_in_parts(Dice& dice, RankPlan rank, const Range& dst, const Range& src) {
    std::vector<int> cuts = {0, static_cast<int>(dst.length)};
    for (int i = dice.pick(0, 2); i > 0; --i) cuts.push_back(dice.pick(0, cuts[1]));
    std::sort(cuts.begin(), cuts.end());
    std::vector<std::pair<int, int>> parts;
    for (std::size_t i = 1; i < cuts.size(); ++i) {
        if (cuts[i - 1] != cuts[i]) parts.emplace_back(cuts[i - 1], cuts[i]);
    }
    dice.shuffle(parts);
    for (const auto& [begin, end] : parts) {
        const auto from = static_cast<std::uint64_t>(begin);
        const auto length = static_cast<std::uint64_t>(end - begin);
        rank.copy({dst.buffer, dst.rank, dst.offset + from, length},
                  {src.buffer, src.rank, src.offset + from, length});
    }
}

// ---------------------------------------------------------------------------- spoiling

namespace {

class Spoiler {
public:
    Spoiler(Dice& dice, const Plan& plan) : dice_(dice), plan_(plan) {}

    void operator()(Copy& copy) {
        if (dice_.chance(50)) {
            shift(dice_.chance(50) ? copy.dst : copy.src);
        } else {
            turn(copy.src);
        }
    }
    void operator()(Reduce& reduce) {
        Range& source = reduce.src[static_cast<std::size_t>(
            dice_.pick(0, static_cast<int>(reduce.src.size()) - 1))];
        switch (dice_.pick(1, 6)) {
            case 1:
                reduce.op = dice_.one_of<ReduceOp>({kReduceOps.begin(), kReduceOps.end()});
                break;
            case 2: reduce.element = other(reduce.element); break;
            case 3: std::reverse(reduce.src.begin(), reduce.src.end()); break;
            case 4: reduce.src.push_back(source); break;
            case 5: shift(source); break;
            default: turn(source); break;
        }
    }
    void operator()(Accumulate& sum) {
        if (dice_.chance(40)) {
            sum.element = other(sum.element);
        } else {
            turn(dice_.chance(50) ? sum.src : sum.dst);
        }
    }
    void operator()(Map& map) {
        if (map.op == MapOp::fill && dice_.chance(25)) {
            map.op = MapOp::clobber;
        } else if (dice_.chance(50)) {
            map.scalar = dice_.pick(0, 2);
        } else if (dice_.chance(50)) {
            map.element = other(map.element);
        } else {
            shift(map.dst);
        }
    }
    void operator()(Notify& notify) {
        if (dice_.chance(25)) {
            notify.op = notify.op == NotifyOp::set ? NotifyOp::add : NotifyOp::set;
        } else {
            change(notify.cell, notify.value);
        }
    }
    void operator()(Wait& wait) {
        if (dice_.chance(40)) {
            wait.compare = dice_.one_of<Compare>(
                {Compare::eq, Compare::ne, Compare::gt, Compare::ge, Compare::lt, Compare::le});
        } else {
            const int rank = wait.cell.rank;
            change(wait.cell, wait.value);
            wait.cell.rank = rank;
        }
    }
    void operator()(SetFlag&) {}
    void operator()(WaitFlag&) {}
    void operator()(PipeBarrier&) {}
    void operator()(Fence&) {}
    void operator()(Evict& evict) { shift(evict.range); }

private:
    void shift(Range& range) {
        range.offset += dice_.chance(50) || range.offset == 0 ? 1 : std::uint64_t{0} - 1;
    }
    // Another rank's, if it is a window; otherwise somewhere else.
    void turn(Range& range) {
        const bool is_window =
            range.buffer != kTile && plan_.buffers[range.buffer].kind == BufferKind::window;
        if (is_window && dice_.chance(70)) {
            range.rank = dice_.pick(0, plan_.nranks - 1);
        } else if (range.offset >= range.length && dice_.chance(50)) {
            range.offset -= range.length;
        } else {
            range.offset += range.length;
        }
    }
    // As long, or as sure to fit.
    Element other(Element element) {
        switch (element) {
            case Element::u8: return Element::i8;
            case Element::i8: return Element::u8;
            case Element::i16: return dice_.chance(50) ? Element::u8 : Element::f16;
            case Element::i32: return dice_.chance(50) ? Element::i16 : Element::f32;
            case Element::f32: return Element::i32;
            default: return Element::i16;
        }
    }
    void change(Cell& cell, Value& value) {
        switch (dice_.pick(1, 5)) {
            case 1: ++cell.index; break;
            case 2: cell.rank = dice_.pick(0, plan_.nranks - 1); break;
            case 3: value.per_generation += dice_.chance(50) ? 1 : -1; break;
            default: value.constant += dice_.chance(50) ? 1 : -1; break;
        }
    }

    Dice& dice_;
    const Plan& plan_;
};

const Range* written_by(const Action& action) {
    if (const auto* copy = std::get_if<Copy>(&action)) return &copy->dst;
    if (const auto* reduce = std::get_if<Reduce>(&action)) return &reduce->dst;
    if (const auto* map = std::get_if<Map>(&action)) return &map->dst;
    return nullptr;
}

// Something is done to what an instruction wrote.
void insert_map(Dice& dice, std::vector<Instruction>& list, std::size_t at) {
    const Range* range = written_by(list[at].action);
    if (!range) return;
    Map map{dice.one_of<MapOp>({MapOp::add_scalar, MapOp::mul_scalar, MapOp::clobber, MapOp::fill}),
            dice.one_of<Element>({Element::u8, Element::i8, Element::i16, Element::i32}),
            static_cast<double>(dice.pick(0, 2)),
            *range,
            *range,
            Element::f32};
    if (map.op == MapOp::clobber) map.dst.length = 1;
    Instruction instruction = list[at];
    instruction.action = map;
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at) + 1, instruction);
}

// What was copied is computed.
void compute_copy(Dice& dice, Instruction& instruction) {
    const auto* copy = std::get_if<Copy>(&instruction.action);
    if (!copy) return;
    const Element element =
        dice.one_of<Element>({Element::u8, Element::i8, Element::i16, Element::i32});
    Map map{
        dice.one_of<MapOp>({MapOp::add_scalar, MapOp::mul_scalar, MapOp::convert, MapOp::row_sum}),
        element,
        static_cast<double>(dice.pick(0, 2)),
        copy->dst,
        copy->src,
        element == Element::u8 ? Element::i8 : element};
    if (map.op == MapOp::row_sum) {
        map.dst.length = bytes_of(element);
        map.src.length = dice.chance(80) ? 2 * map.dst.length : map.dst.length;
    }
    instruction.action = map;
}

}  // namespace

void spoil(Dice& dice, std::vector<Plan>& plans) {
    Plan& plan = plans[static_cast<std::size_t>(dice.pick(0, static_cast<int>(plans.size()) - 1))];
    std::vector<Instruction>& list = plan.instructions;
    if (list.empty()) return;
    const auto at = static_cast<std::size_t>(dice.pick(0, static_cast<int>(list.size()) - 1));
    const int how = dice.pick(1, 100);
    if (how <= 20 && at + 1 < list.size()) {
        std::swap(list[at], list[at + 1]);
    } else if (how <= 35) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (how <= 45) {
        insert_map(dice, list, at);
    } else if (how <= 55) {
        compute_copy(dice, list[at]);
    } else {
        std::visit(Spoiler(dice, plan), list[at].action);
    }
}

void spoil_order(Dice& dice, std::vector<Plan>& plans) {
    std::vector<Instruction>& list =
        plans[static_cast<std::size_t>(dice.pick(0, static_cast<int>(plans.size()) - 1))]
            .instructions;
    if (list.size() < 2) return;
    const auto at = list.begin() + dice.pick(0, static_cast<int>(list.size()) - 2);
    if (std::holds_alternative<SetFlag>(at->action) ||
        std::holds_alternative<WaitFlag>(at->action) || dice.chance(60)) {
        std::swap(*at, *(at + 1));
    } else {
        list.erase(at);
    }
}

// ---------------------------------------------------------------------------- meetings

int Meeting::any_way(Dice& dice) {
    // Most are the usual ones.
    return dice.chance(50) ? dice.one_of<int>({kSetAtLeast, kAddAtLeast, kSumAtLeast})
                           : dice.pick(0, kWays - 1);
}

Meeting::Meeting(Dice& dice, Plans& plans, const std::string& name, int phases)
    : Meeting(plans, name, phases, any_way(dice),
              dice.one_of<std::uint64_t>({64, 64, 64, 8, 16, 24, 128}),
              dice.chance(70) ? Element::i32 : Element::i64,
              dice.chance(12) ? kMost - dice.pick(0, 5) : 0) {}

Meeting::Meeting(Plans& plans, const std::string& name, int phases, int way, std::uint64_t stride,
                 Element element, std::int64_t base)
    : nranks_(plans.nranks()), phases_(phases), way_(way), base_(base) {
    const bool sets =
        way_ == kSetAtLeast || way_ == kSetMore || way_ == kSetAtMost || way_ == kSetLess;
    if (!sets) base_ = 0;
    create(plans, name, stride, element);
}

void Meeting::create(Plans& plans, const std::string& name, std::uint64_t stride, Element element) {
    const bool exact = way_ == kAddExactly || way_ == kSetExactly;
    const std::int64_t advance = way_ == kSumAtLeast ? phases_ * (nranks_ - 1)
                                 : exact             ? 1
                                                     : phases_;
    signal_ =
        plans.signal(name, static_cast<std::uint64_t>(nranks_ * phases_), advance, stride, element);
}

// Exact waits have a cell for each phase: nobody runs past them.
std::uint64_t Meeting::cell(int writer, int phase) const {
    if (way_ == kSumAtLeast) return 0;
    const bool exact = way_ == kAddExactly || way_ == kSetExactly;
    return static_cast<std::uint64_t>(exact ? phase * nranks_ + writer : writer);
}

void Meeting::notify(Plans& plans, int me, int peer, int phase) const {
    RankPlan rank = plans.on(me);
    const std::uint64_t to = cell(me, phase);
    switch (way_) {
        case kSetAtMost:
        case kSetLess: rank.set(signal_, peer, to, {-base_ - phase - 1, -1}); break;
        case kAddAtLeast:
        case kSumAtLeast:
        case kAddExactly: rank.increase(signal_, peer, to, fixed(1)); break;
        case kAddMuch: rank.increase(signal_, peer, to, fixed(kThird)); break;
        case kSetExactly: rank.set(signal_, peer, to, now(1)); break;
        default: rank.set(signal_, peer, to, now(base_ + phase + 1)); break;
    }
}

void Meeting::wait(Plans& plans, int me, int peer, int phase) const {
    RankPlan rank = plans.on(me);
    const std::uint64_t on = cell(peer, phase);
    switch (way_) {
        case kSetMore: rank.wait(signal_, on, Compare::gt, now(base_ + phase)); break;
        case kSetAtMost: rank.wait(signal_, on, Compare::le, {-base_ - phase - 1, -1}); break;
        case kSetLess: rank.wait(signal_, on, Compare::lt, {-base_ - phase, -1}); break;
        case kAddExactly:
        case kSetExactly: rank.wait(signal_, on, Compare::eq, now(1)); break;
        case kSetOther: rank.wait(signal_, on, Compare::ne, now(phase)); break;
        case kAddMuch: rank.wait(signal_, on, Compare::ge, {kThird * (phase + 1), kThird}); break;
        case kSumAtLeast:
            rank.wait(signal_, on, now(std::int64_t{nranks_ - 1} * (phase + 1)));
            break;
        default: rank.wait(signal_, on, now(base_ + phase + 1)); break;
    }
}

void Meeting::meet(Plans& plans, int me, int phase) const {
    for (int peer = 0; peer < nranks_; ++peer) {
        if (peer != me) notify(plans, me, peer, phase);
    }
    for (int peer = 0; peer < nranks_; ++peer) {
        if (peer == me) continue;
        wait(plans, me, peer, phase);
        if (way_ == kSumAtLeast) break;
    }
}

}  // namespace peal::test
