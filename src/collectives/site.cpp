// SPDX-License-Identifier: Apache-2.0
#include "collectives/site.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

Part part(const ExprPtr& total, const ExprPtr& parts, const ExprPtr& i) {
    const ExprPtr begin = i * total / parts;
    const ExprPtr end = (i + 1) * total / parts;
    return {begin, end - begin};
}

Part block(const ExprPtr& count, const ExprPtr& i) { return {i * count, count}; }

ExprPtr size_of(const ExprPtr& memory) {
    ExprPtr elements = integer(1);
    for (const ExprPtr& dimension : type_of(*memory).shape) elements = elements * dimension;
    return elements;
}

// ---------------------------------------------------------------------------- data

void Site::stage(const Part& from, const ExprPtr& at) const {
    if (input) b.Store(b.Load(input, from.offset, from.count), target, at);
}

void Site::unstage(const Part& from, const ExprPtr& at) const {
    if (output) b.Store(load_own(from), output, at);
}

void Site::deliver(const ExprPtr& tile, const ExprPtr& output_at, const ExprPtr& target_at) const {
    if (output) {
        b.Store(tile, output, output_at);
    } else {
        b.Store(tile, target, target_at);
    }
}

ExprPtr Site::load_input(const Part& from, const ExprPtr& target_at) const {
    return input ? b.Load(input, from.offset, from.count) : b.Load(target, target_at, from.count);
}

ExprPtr Site::load(const Part& from, const ExprPtr& peer) const {
    return b.RemoteLoad(target, peer, from.offset, from.count);
}

ExprPtr Site::load_own(const Part& from) const { return b.Load(target, from.offset, from.count); }

ExprPtr Site::combine_in_rank_order(const Part& from) const {
    return b.EmitForReduce(
        "r", integer(1), nranks(), load(from, integer(0)),
        [&](LoweringBuilder& loop, const ExprPtr& r, const ExprPtr& acc) {
            const ExprPtr piece = loop.EmitIfExpr(
                NotEq(r, rank()), [&](LoweringBuilder& then) { return in(then).load(from, r); },
                [&](LoweringBuilder& other) { return in(other).load_own(from); });
            return loop.Combine(op, acc, piece);
        });
}

void Site::combine_from(const ExprPtr& peer, const Part& part) const {
    b.Store(b.Combine(op, load(part, peer), load_own(part)), target, part.offset);
}

// ---------------------------------------------------------------------------- signals

void Site::notify(const ExprPtr& peer, const ExprPtr& phase) const {
    b.Notify(signal, peer, rank(), b.Epoch(signal) + phase);
}

void Site::wait(const ExprPtr& peer, const ExprPtr& phase) const {
    b.Wait(signal, peer, b.Epoch(signal) + phase);
}

void Site::notify_peers(std::int64_t phase) const {
    for_each_peer([&](const Site& at, const ExprPtr& peer) { at.notify(peer, integer(phase)); });
}

void Site::wait_peers(std::int64_t phase) const {
    for_each_peer([&](const Site& at, const ExprPtr& peer) { at.wait(peer, integer(phase)); });
}

void Site::meet(std::int64_t phase) const {
    notify_peers(phase);
    wait_peers(phase);
}

void Site::advance(const ExprPtr& phases) const { b.Advance(signal, phases); }

void Site::for_each_peer(const std::function<void(const Site&, const ExprPtr& peer)>& body) const {
    b.EmitFor("peer", integer(0), nranks(), [&](LoweringBuilder& loop, const ExprPtr& peer) {
        loop.EmitIf(NotEq(peer, rank()), [&](LoweringBuilder& inner) { body(in(inner), peer); });
    });
}

}  // namespace peal::collectives
