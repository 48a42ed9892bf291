// SPDX-License-Identifier: Apache-2.0
// All-to-all, pushed: everybody puts a block into everybody's window.
// args: those of CallOf.
#include "frame.hpp"

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {
    const auto [input, output, scratch, cells, nranks, count, context, me, left_out] = CallOf(args);

    RowTile block(count), all(nranks * count);
    TASSIGN(block, 0x0);
    TASSIGN(all, 0x400);
    for (int peer = 0; peer < nranks; ++peer) {
        Row to = RowAt(RemotePtr(context, scratch, peer) + me * count, count);
        Row from = RowAt(input + peer * count, count);
        pto::comm::TPUT(to, from, block);
    }
    SYNC(1) pipe_barrier(PIPE_ALL);
    SYNC(2) RingAll(context, cells, nranks);
    SYNC(3) WaitForAll(context, cells, nranks);

    TLOAD(all, RowAt(scratch, nranks * count));
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID2);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID2);
    TSTORE(RowAt(output, nranks * count), all);
    pipe_barrier(PIPE_ALL);
}
