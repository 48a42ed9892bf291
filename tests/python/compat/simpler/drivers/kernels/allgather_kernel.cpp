// SPDX-License-Identifier: Apache-2.0
// Allgather: everybody stages its block, and reads everybody's.
// args: those of CallOf.
#include "frame.hpp"

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {
    const auto [input, output, scratch, cells, nranks, count, context, me, left_out] = CallOf(args);

    RowTile block(count);
    TASSIGN(block, 0x0);
    TLOAD(block, RowAt(input, count));
    SYNC(1) set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    SYNC(1) wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(RowAt(scratch, count), block);
    SYNC(2) pipe_sync();
    RingAll(context, cells, nranks);
    SYNC(3) WaitForAll(context, cells, nranks);
    pipe_barrier(PIPE_ALL);

    for (int peer = 0; peer < nranks; ++peer) {
        TLOAD(block, RowAt(RemotePtr(context, scratch, peer), count));
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        TSTORE(RowAt(output + peer * count, count), block);
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
    }
}
