// SPDX-License-Identifier: Apache-2.0
// Broadcast: the root stages its vector, and everybody reads it there.
// args: input, output, scratch window; nranks, elements of a block, context, sync to leave out,
// root.
#include "frame.hpp"

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {
    const auto [input, output, scratch, cells, nranks, count, context, me, left_out] = CallOf(args);
    const int root = static_cast<int>(args[7]);

    RowTile tile(count);
    TASSIGN(tile, 0x0);
    if (me == root) {
        TLOAD(tile, RowAt(input, count));
        SYNC(1) set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        SYNC(1) wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        TSTORE(RowAt(scratch, count), tile);
        SYNC(2) pipe_barrier(PIPE_ALL);
    }
    RingAll(context, cells, nranks);
    SYNC(3) WaitForAll(context, cells, nranks);

    TLOAD(tile, RowAt(RemotePtr(context, scratch, root), count));
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
    TSTORE(RowAt(output, count), tile);
    pipe_barrier(PIPE_ALL);
}
