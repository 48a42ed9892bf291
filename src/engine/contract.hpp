// SPDX-License-Identifier: Apache-2.0
// The engine contract: what it takes to carry out plans, whoever does it.
//
// A rank is a Core: a decoded plan (Tape), memory for each of its buffers with the generations of
// its signals (BoundBuffer, checked by engine/binding.hpp), and a position. drive() is the one loop
// that takes it through its plan. A Core may have all lanes of its rank, and one of them is set
// aside while another goes on; or one lane, and then the lanes of a rank may be carried by several
// threads. What is left for an engine to supply is
//
//   memory    where the buffers are; copies to and from peers that are not in its address space
//   waiting   what a rank does that cannot go on: spin, sleep, give up, let another go first
//   telling   how a rank learns that its cell was changed
//
// The in-process engine, the communicator and the worker's devices are suppliers of these. Whatever
// else they do (stamps beside cells, logs, cancelling, seeds) they do in these calls.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "engine/core.hpp"

namespace peal::engine {

template <class S>
concept Supplier = requires(S& supplier, const Core& core, const Op& op, std::byte* memory,
                            const std::byte* data, int rank, std::uint64_t n, std::int64_t value) {
    // The rank is about to carry out its next instruction.
    supplier.begins(core);

    // Waiting. The next instruction cannot be carried out now, in no lane that the core has. True:
    // try again. False: leave the rank where it is.
    { supplier.wait(core) } -> std::same_as<bool>;
    // A wait passes; `memory` is its cell.
    supplier.heard(op, memory);

    // Telling. A notify is about to change the cell at `memory`: what is written beside the cell
    // now is seen by whoever sees the change.
    supplier.rings(memory);
    // It has: core.last() is the notify.
    supplier.rang(core);

    // Memory. Copies from or to a peer's window, for tapes whose windows are reached; throws when
    // it cannot be done.
    supplier.fetch(memory, rank, n, n);
    supplier.put(rank, n, data, n);

    // The same for tapes some of whose ranks are on other hosts: `memory` stands for the mirror of
    // a window there. A fetch may begin and be complete when fetched() returns. Every put is
    // deferred work of a group: complete by the next fence of that group, for what this rank puts
    // or fetches afterwards, and for others when they are told: by notify_far(), or when rings()
    // returns. Its data must stay: changes() returns when the bytes may be changed.
    supplier.fetch_far(memory, data, n);
    supplier.fetched();
    supplier.put_far(memory, data, n, op.group);
    supplier.fence_far(op.group);
    supplier.changes(data, n);
    // Changes the cell on the other host to, or by, the value.
    supplier.notify_far(core, op, value);

    // Whether drive() returns after each instruction.
    { S::kStepwise } -> std::convertible_to<bool>;
};

// What most suppliers have in common: nothing to say. To be derived from.
struct PlainSupplier {
    static constexpr bool kStepwise = false;
    void begins(const Core&) {}
    void heard(const Op&, std::byte*) {}
    void rings(std::byte*) {}
    void fetch(std::byte*, int, std::uint64_t, std::uint64_t) { assert(false); }
    void put(int, std::uint64_t, const std::byte*, std::uint64_t) { assert(false); }
    void fetch_far(std::byte*, const std::byte*, std::uint64_t) { assert(false); }
    void fetched() { assert(false); }
    void put_far(std::byte*, const std::byte*, std::uint64_t, std::uint16_t) { assert(false); }
    void fence_far(std::uint16_t) { assert(false); }
    void changes(const std::byte*, std::uint64_t) { assert(false); }
    void notify_far(const Core&, const Op&, std::int64_t) { assert(false); }
};

enum class Driven : std::uint8_t {
    done,       // the plan has been carried out
    set_aside,  // the rank has to wait, and the supplier does not
    stepped,    // one instruction was carried out
};

// Work on data, where some ranks are on other hosts. What is theirs is fetched into its mirror and
// worked on there; what becomes theirs is put from there. No other rank of this host minds: who
// touches the same bytes at the same time reads them, and fetches what they are.
template <Supplier S>
[[gnu::cold, gnu::noinline]] void work_far(Core& core, S& supplier, const Op& op) {
    std::byte* const dst = core.address(op.dst);
    const std::uint64_t n = source_bytes(op);
    if (op.work == Opcode::copy && op.dst.is_far && !op.src.is_far) {
        return supplier.put_far(dst, core.address(op.src), n, op.group);
    }
    supplier.changes(dst, op.bytes);
    if (op.work == Opcode::copy && op.src.is_far && !op.dst.is_far) {
        supplier.fetch_far(dst, core.address(op.src), n);
        return supplier.fetched();
    }
    bool fetches = false;
    for (const Address& source : core.sources(op)) {
        std::byte* const mirror = core.address(source);
        if (source.is_far) supplier.fetch_far(mirror, mirror, n);
        fetches = fetches || source.is_far;
    }
    if (fetches) supplier.fetched();
    Op here = op;
    here.code = op.work;
    core.carry_out(here);
    if (op.dst.is_far) supplier.put_far(dst, dst, op.bytes, op.group);
}

// The wait at hand cannot pass. False: the core goes on, with another lane or once the supplier has
// waited.
template <Supplier S>
bool is_set_aside(Core& core, S& supplier) {
    if (core.turn_to_lane() || supplier.wait(core)) return false;
    // Another thread may go on with the core, and its fences order only its own stores.
    core.finish_streams();
    return true;
}

// Carries out the plan from where it stands. What suppliers and instructions throw goes through:
// Error(wrong) when a signal overflows. This is drive() for who carries out little, again and
// again: it becomes part of the caller.
template <Supplier S>
[[gnu::always_inline]] inline Driven drive_here(Core& core, S& supplier) {
    do {
        while (!core.is_at_end()) {
            const Op& op = core.op();
            supplier.begins(core);
            switch (op.code) {
                case Opcode::copy:
                    core.copy(op);
                    core.go_on(op);
                    break;
                case Opcode::reduce:
                    core.reduce(op);
                    core.go_on(op);
                    break;
                case Opcode::wait: {
                    std::byte* const cell = core.address(op.dst);
                    if (!core.can_pass(op, cell)) {
                        if (is_set_aside(core, supplier)) return Driven::set_aside;
                        continue;
                    }
                    supplier.heard(op, cell);
                    core.go_on(op);
                    break;
                }
                case Opcode::wait_flag:
                    if (!core.can_pass(op)) {
                        if (is_set_aside(core, supplier)) return Driven::set_aside;
                        continue;
                    }
                    core.carry_out(op);
                    core.go_on(op);
                    break;
                case Opcode::notify_set:
                case Opcode::notify_exchange:
                case Opcode::notify_add: {
                    std::byte* const cell = core.address(op.dst);
                    const std::int64_t value = core.value_of(op);
                    supplier.rings(cell);
                    core.notify(op, cell, value);
                    core.go_on(op);
                    supplier.rang(core);
                    break;
                }
                case Opcode::fetch:
                    supplier.fetch(core.address(op.dst), op.src.rank, op.src.offset, op.bytes);
                    core.go_on(op);
                    break;
                case Opcode::put:
                    supplier.put(op.dst.rank, op.dst.offset, core.address(op.src), op.bytes);
                    core.go_on(op);
                    break;
                case Opcode::far:
                    work_far(core, supplier, op);
                    core.go_on(op);
                    break;
                case Opcode::far_fence:
                    supplier.fence_far(op.group);
                    core.go_on(op);
                    break;
                case Opcode::far_notify:
                    supplier.notify_far(core, op, core.value_of(op));
                    core.go_on(op);
                    break;
                case Opcode::accumulate:
                case Opcode::map:
                case Opcode::convert:
                case Opcode::row_sum:
                case Opcode::clobber:
                case Opcode::set_flag:
                case Opcode::nothing:
                    core.carry_out(op);
                    core.go_on(op);
                    break;
                default: __builtin_unreachable();  // or each instruction would be asked for it
            }
            if constexpr (S::kStepwise) return Driven::stepped;
        }
    } while (core.take_lane());
    core.finish_streams();
    return Driven::done;
}
template <Supplier S>
Driven drive(Core& core, S& supplier) {
    return drive_here(core, supplier);
}

// The generation of signal `buffer` moves on by a call of the plan. Nothing else changes one.
inline void advance_generation(const Plan& plan, std::size_t buffer, std::int64_t& generation) {
    generation += plan.advance[buffer];
}
// Those of all its signals: `generation_of(b)` is where the engine keeps that of buffer b.
template <class GenerationOf>
void advance_generations(const Plan& plan, GenerationOf&& generation_of) {
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
        const bool is_signal = plan.buffers[b].kind == BufferKind::signal;
        if (is_signal) advance_generation(plan, b, generation_of(b));
    }
}

}  // namespace peal::engine
