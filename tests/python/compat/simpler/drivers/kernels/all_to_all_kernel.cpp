// SPDX-License-Identifier: Apache-2.0
// All-to-all, pulled: everybody stages its blocks, and takes its own of everybody's.
// args: those of CallOf.
#include "frame.hpp"

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {
    const auto [input, output, scratch, cells, nranks, count, context, me, left_out] = CallOf(args);

    RowTile all(nranks * count), block(count);
    TASSIGN(all, 0x0);
    TASSIGN(block, 0x400);
    TLOAD(all, RowAt(input, nranks * count));
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(RowAt(scratch, nranks * count), all);
    SYNC(1) pipe_barrier(PIPE_ALL);
    RingAll(context, cells, nranks);
    SYNC(2) WaitForAll(context, cells, nranks);

    for (int peer = 0; peer < nranks; ++peer) {
        TLOAD(block, RowAt(RemotePtr(context, scratch, peer) + me * count, count));
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        TSTORE(RowAt(output + peer * count, count), block);
        SYNC(3) set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
        SYNC(3) wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
    }
}
