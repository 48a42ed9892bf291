// SPDX-License-Identifier: Apache-2.0
#include "collectives/slots.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: reads like the IR it makes

namespace {

// What a slot has room for: whole cache lines, if there is room for one.
ExprPtr room_of(const Site& at, const ExprPtr& blocks, std::int64_t slots) {
    const ExprPtr elements = size_of(at.target) / (blocks * slots);
    return Max(elements / integer(at.line()) * at.line(), Min(elements, integer(at.line() - 1)));
}

// As few chunks as there can be, and those as even as whole lines allow.
ExprPtr even_size(const Site& at, const ExprPtr& length, const ExprPtr& room) {
    const ExprPtr some = Max(length, integer(1));
    const ExprPtr even = ceil_div(some, ceil_div(some, room));
    return Min(ceil_div(even, integer(at.line())) * at.line(), room);
}

}  // namespace

Slots::Slots(const Site& at, const ExprPtr& length, const ExprPtr& blocks, std::int64_t slots)
    : length_(length),
      blocks_(blocks),
      slots_(slots),
      size_(
          at.b.Bind("size", even_size(at, length, at.b.Bind("room", room_of(at, blocks, slots))))),
      chunks_(at.b.Bind("chunks", Max(ceil_div(length, size_), integer(1)))) {}

ExprPtr Slots::least(const ExprPtr& blocks, std::int64_t slots) { return blocks * slots; }

Part Slots::chunk_of(const ExprPtr& length, const ExprPtr& i) const {
    const ExprPtr begin = Min(i * size_, length);
    return {begin, Min(size_, length - begin)};
}

ExprPtr Slots::place(const ExprPtr& i, const ExprPtr& block) const {
    return (i % integer(slots_) * blocks_ + block) * size_;
}

void Slots::exchange(const Site& at, const Step& stage, const Step& fetch) const {
    at.b.EmitFor("i", integer(0), chunks_ + 1, [&](LoweringBuilder& loop, const ExprPtr& i) {
        loop.EmitIf(Less(i, chunks_), [&](LoweringBuilder& b) { stage(at.in(b), i); });
        loop.EmitIf(Less(integer(0), i), [&](LoweringBuilder& b) { fetch(at.in(b), i - 1); });
    });
    at.meet(phase(chunks_));
    at.advance(phase(chunks_));
}

void Slots::send(const Site& at, const Step& wait_for_readers, const Step& stage) const {
    at.b.EmitFor("i", integer(0), chunks_, [&](LoweringBuilder& loop, const ExprPtr& i) {
        loop.EmitIf(AtLeast(i, integer(slots_)),
                    [&](LoweringBuilder& b) { wait_for_readers(at.in(b), i - slots_); });
        stage(at.in(loop), i);
    });
    wait_for_readers(at, chunks_ - 1);
}

void Slots::receive(const Site& at, const Step& fetch) const {
    at.b.EmitFor("i", integer(0), chunks_,
                 [&](LoweringBuilder& loop, const ExprPtr& i) { fetch(at.in(loop), i); });
}

void Slots::send_to_root(const Site& at) const {
    send(
        at, [&](const Site& here, const ExprPtr& i) { here.wait(at.root, phase(i)); },
        [&](const Site& here, const ExprPtr& i) {
            here.stage(chunk(i), place(i));
            here.notify(at.root, phase(i));
        });
}

}  // namespace peal::collectives
