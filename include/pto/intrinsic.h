// SPDX-License-Identifier: Apache-2.0
// Flags between pipes, barriers, and what else a core has.
#pragma once

#include "pto/common/issue.hpp"

// A one-bit event from one pipe to another: set after all earlier work of `from`; `to` goes on when
// it is set, and takes it.
inline void set_flag(pipe_t from, pipe_t to, event_t event,
                     const pto::trace::Where& where = pto::trace::Where::current()) {
    pto::trace::Operation operation =
        pto::trace::begin(pto::trace::Op::set_flag, "set_flag", where);
    operation.pipe[0] = from;
    operation.pipe[1] = to;
    operation.event = event;
    pto::trace::end(operation);
}

inline void wait_flag(pipe_t from, pipe_t to, event_t event,
                      const pto::trace::Where& where = pto::trace::Where::current()) {
    pto::trace::Operation operation =
        pto::trace::begin(pto::trace::Op::wait_flag, "wait_flag", where);
    operation.pipe[0] = from;
    operation.pipe[1] = to;
    operation.event = event;
    pto::trace::end(operation);
}

// Later instructions on the pipe start when its earlier ones are done; PIPE_ALL: those of all
// pipes.
inline void pipe_barrier(pipe_t pipe,
                         const pto::trace::Where& where = pto::trace::Where::current()) {
    pto::trace::Operation operation =
        pto::trace::begin(pto::trace::Op::pipe_barrier, "pipe_barrier", where);
    operation.pipe[0] = pipe;
    pto::trace::end(operation);
}

// The core of its rank that this is, and how many there are.
inline std::int64_t get_block_idx() { return pto::trace::block().index; }
inline std::int64_t get_block_num() { return pto::trace::block().count; }
inline std::int32_t get_block_idx(const std::int64_t* /*args*/) {
    return static_cast<std::int32_t>(pto::trace::block().index);
}
inline std::int32_t get_block_num(const std::int64_t* /*args*/) {
    return static_cast<std::int32_t>(pto::trace::block().count);
}
inline std::int32_t get_sub_block_id(const std::int64_t* /*args*/) { return 0; }

// What was stored and is known to be done is visible to the other cores and ranks afterwards, and
// what the cache gave up is in memory. (Tile memory needs no fence.)
enum dsb_t { DSB_ALL = 0, DSB_DDR = 1, DSB_UB = 2 };
inline void dsb(dsb_t what, const pto::trace::Where& where = pto::trace::Where::current()) {
    if (what != DSB_UB) pto::trace::end(pto::trace::begin(pto::trace::Op::fence, "dsb", where));
}

// The scalar unit's cache gives up a line, or all of them: what was written there goes to memory,
// by the next dsb; what is read there next comes from memory.
enum cache_line_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE = 1 };
enum dcci_dst_t { CACHELINE_ALL = 0, CACHELINE_UB = 1, CACHELINE_OUT = 2, CACHELINE_ATOMIC = 3 };
inline void dcci(const volatile void* address, cache_line_t lines,
                 dcci_dst_t /*where_to*/ = CACHELINE_ALL,
                 const pto::trace::Where& where = pto::trace::Where::current()) {
    pto::trace::Operation operation = pto::trace::begin(pto::trace::Op::evict, "dcci", where);
    if (lines == SINGLE_CACHE_LINE) operation.cell = reinterpret_cast<std::uint64_t>(address);
    pto::trace::end(operation);
}

// *to = value and *to = *from, by the scalar unit, through its cache. What a kernel itself does to
// memory is not seen, so these stand where a kernel writes a count, or passes one on.
template <class T>
void store_scalar(T* to, T value, const pto::trace::Where& where = pto::trace::Where::current()) {
    pto::trace::Operation operation =
        pto::trace::begin(pto::trace::Op::scalar_store, "store_scalar", where);
    operation.memory[0] = pto::trace::one_of(to);
    operation.scalar = static_cast<double>(value);
    pto::trace::end(operation);
}
template <class T>
void copy_scalar(T* to, const T* from,
                 const pto::trace::Where& where = pto::trace::Where::current()) {
    pto::trace::Operation operation =
        pto::trace::begin(pto::trace::Op::scalar_copy, "copy_scalar", where);
    operation.memory[0] = pto::trace::one_of(to);
    operation.memory[1] = pto::trace::one_of(from);
    pto::trace::end(operation);
}
