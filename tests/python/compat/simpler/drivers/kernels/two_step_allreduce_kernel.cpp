// SPDX-License-Identifier: Apache-2.0
// Allreduce in two steps: everybody adds up its block, then puts the sum into everybody's window.
// args: those of CallOf.
#include "frame.hpp"

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {
    const auto [input, output, scratch, cells, nranks, count, context, me, left_out] = CallOf(args);
    __gm__ float* sums = scratch + kMostElements;
    __gm__ int32_t* staged = reinterpret_cast<__gm__ int32_t*>(sums + kMostElements);
    __gm__ int32_t* summed = staged + kMostRanks;

    RowTile all(nranks * count), sum(count), block(count);
    TASSIGN(all, 0x0);
    TASSIGN(sum, 0x400);
    TASSIGN(block, 0x800);
    TLOAD(all, RowAt(input, nranks * count));
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(RowAt(scratch, nranks * count), all);
    pipe_barrier(PIPE_ALL);
    RingAll(context, staged, nranks);
    SYNC(1) WaitForAll(context, staged, nranks);

    TLOAD(sum, RowAt(RemotePtr(context, scratch, 0) + me * count, count));
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
    for (int peer = 1; peer < nranks; ++peer) {
        TLOAD(block, RowAt(RemotePtr(context, scratch, peer) + me * count, count));
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TADD(sum, sum, block);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
    }
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    for (int peer = 0; peer < nranks; ++peer) {
        TSTORE(RowAt(RemotePtr(context, sums, peer) + me * count, count), sum);
    }
    SYNC(2) pipe_barrier(PIPE_ALL);
    RingAll(context, summed, nranks);
    SYNC(3) WaitForAll(context, summed, nranks);

    TLOAD(all, RowAt(sums, nranks * count));
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(RowAt(output, nranks * count), all);
    pipe_barrier(PIPE_ALL);
}
