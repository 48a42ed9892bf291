// SPDX-License-Identifier: Apache-2.0
// Allreduce in one step: everybody stages its vector, and adds up all of them, in rank order.
// args: those of CallOf.
#include "frame.hpp"

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {
    const auto [input, output, scratch, cells, nranks, count, context, me, left_out] = CallOf(args);

    RowTile sum(count), row(count);
    TASSIGN(sum, 0x0);
    TASSIGN(row, 0x400);
    TLOAD(sum, RowAt(input, count));
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(RowAt(scratch, count), sum);
    SYNC(1) pipe_barrier(PIPE_ALL);
    RingAll(context, cells, nranks);
    SYNC(2) WaitForAll(context, cells, nranks);

    TLOAD(sum, RowAt(RemotePtr(context, scratch, 0), count));
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
    for (int peer = 1; peer < nranks; ++peer) {
        TLOAD(row, RowAt(RemotePtr(context, scratch, peer), count));
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TADD(sum, sum, row);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
    }
    SYNC(3) set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    SYNC(3) wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(RowAt(output, count), sum);
    pipe_barrier(PIPE_ALL);
}
