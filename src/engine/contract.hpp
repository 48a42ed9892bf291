// SPDX-License-Identifier: Apache-2.0
// The engine contract: what it takes to carry out plans, whoever does it.
//
// A rank is a Core: a decoded plan (Tape), memory for each of its buffers with the generations of
// its signals (BoundBuffer, checked by engine/binding.hpp), and a position. drive() is the one loop
// that takes it through its plan. A Core may have all lanes of its rank, and one of them is set
// aside while another goes on; or one lane, and then the lanes of a rank may be carried by several
// threads. What is left for an engine to supply is
//
//   memory    where the buffers are, and copies to and from peers that are not in its address
//   space, waiting   what a rank does that cannot go on: spin, sleep, give up, or let another rank
//   go first, telling   how a rank learns that its cell was changed.
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
                            const std::byte* data, int rank, std::uint64_t n) {
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
};

enum class Driven : std::uint8_t {
    done,       // the plan has been carried out
    set_aside,  // the rank has to wait, and the supplier does not
    stepped,    // one instruction was carried out
};

// Carries out the plan from where it stands. What suppliers and instructions throw goes through:
// Error(wrong) when a signal overflows.
template <Supplier S>
Driven drive(Core& core, S& supplier) {
    do {
        while (!core.is_at_end()) {
            const Op& op = core.op();
            supplier.begins(core);
            switch (op.code) {
                case Opcode::wait:
                case Opcode::wait_flag:
                    if (!core.can_pass(op)) {
                        if (core.turn_to_lane()) continue;
                        if (!supplier.wait(core)) return Driven::set_aside;
                        continue;
                    }
                    if (op.code == Opcode::wait) {
                        supplier.heard(op, core.address(op.dst));
                    } else {
                        core.carry_out(op);
                    }
                    core.go_on();
                    break;
                case Opcode::notify_set:
                case Opcode::notify_exchange:
                case Opcode::notify_add:
                    supplier.rings(core.address(op.dst));
                    core.notify(op);
                    core.go_on();
                    supplier.rang(core);
                    break;
                case Opcode::fetch:
                    supplier.fetch(core.address(op.dst), op.src.rank, op.src.offset, op.bytes);
                    core.go_on();
                    break;
                case Opcode::put:
                    supplier.put(op.dst.rank, op.dst.offset, core.address(op.src), op.bytes);
                    core.go_on();
                    break;
                default: core.carry_out(op); core.go_on();
            }
            if constexpr (S::kStepwise) return Driven::stepped;
        }
    } while (core.take_lane());
    core.finish_streams();
    return Driven::done;
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
