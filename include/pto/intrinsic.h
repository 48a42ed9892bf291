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

// Caches of the scalar unit: it reads no data here, so there is nothing to clean or to wait for.
enum dsb_t { DSB_ALL = 0, DSB_DDR = 1, DSB_UB = 2 };
inline void dsb(dsb_t) {}
enum cache_line_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE = 1 };
template <class... Where>
void dcci(const volatile void*, Where...) {}
