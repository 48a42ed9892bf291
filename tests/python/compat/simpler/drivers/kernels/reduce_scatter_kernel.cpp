// SPDX-License-Identifier: Apache-2.0
// Reduce-scatter: everybody stages its blocks, and adds up its own, in rank order.
// args: those of CallOf.
#include "frame.hpp"

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {
    const auto [input, output, scratch, cells, nranks, count, context, me, left_out] = CallOf(args);

    RowTile all(nranks * count), sum(count), block(count);
    TASSIGN(all, 0x0);
    TASSIGN(sum, 0x400);
    TASSIGN(block, 0x800);
    TLOAD(all, RowAt(input, nranks * count));
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(RowAt(scratch, nranks * count), all);
    SYNC(1) pipe_barrier(PIPE_ALL);
    RingAll(context, cells, nranks);
    SYNC(2) WaitForAll(context, cells, nranks);

    TLOAD(sum, RowAt(RemotePtr(context, scratch, 0) + me * count, count));
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
    for (int peer = 1; peer < nranks; ++peer) {
        TLOAD(block, RowAt(RemotePtr(context, scratch, peer) + me * count, count));
        SYNC(3) set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        SYNC(3) wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TADD(sum, sum, block);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
    }
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(RowAt(output, count), sum);
    pipe_barrier(PIPE_ALL);
}
