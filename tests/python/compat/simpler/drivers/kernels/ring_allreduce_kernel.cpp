// SPDX-License-Identifier: Apache-2.0
// Allreduce round a ring: chunks are added up on their way round, then handed round once more.
// args: input, output, scratch window; nranks, context, sync to leave out.
#include "frame.hpp"

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {
    __gm__ float* input = Elements<float>(args[0]);
    __gm__ float* output = Elements<float>(args[1]);
    __gm__ float* scratch = Elements<float>(args[2]);
    const int nranks = static_cast<int>(args[3]);
    __gm__ auto* context = reinterpret_cast<__gm__ CommContext*>(args[4]);
    const int left_out = static_cast<int>(args[5]);
    const int me = static_cast<int>(context->rankId);
    const int chunk = kMostElements / nranks;
    const int whole = chunk * nranks;
    const int left = (me + nranks - 1) % nranks, right = (me + 1) % nranks;
    __gm__ int32_t* cells = reinterpret_cast<__gm__ int32_t*>(scratch + whole);

    RowTile mine(chunk), theirs(chunk), all(whole);
    TASSIGN(mine, 0x0);
    TASSIGN(theirs, 0x400);
    TASSIGN(all, 0x800);

    TLOAD(all, RowAt(input, whole));
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(RowAt(scratch, whole), all);
    SYNC(1) pipe_barrier(PIPE_ALL);

    // A round has a line of its own: the cell is rung by the left neighbour.
    const auto meet = [&](int round) {
        __gm__ int32_t* cell = cells + 16 * round;
        pto::comm::TNOTIFY(pto::comm::Signal(RemotePtr(context, cell, right)), 1,
                           pto::comm::NotifyOp::AtomicAdd);
        SYNC(2) pto::comm::TWAIT(pto::comm::Signal(cell), 1, pto::comm::WaitCmp::GE);
    };

    for (int step = 0; step + 1 < nranks; ++step) {
        meet(step);
        const int which = (me - step - 1 + 2 * nranks) % nranks;
        TLOAD(theirs, RowAt(RemotePtr(context, scratch, left) + which * chunk, chunk));
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TLOAD(mine, RowAt(scratch + which * chunk, chunk));
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
        TADD(mine, mine, theirs);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(RowAt(scratch + which * chunk, chunk), mine);
        SYNC(3) pipe_barrier(PIPE_ALL);
    }
    for (int step = 0; step + 1 < nranks; ++step) {
        meet(nranks - 1 + step);
        const int which = (me - step + nranks) % nranks;
        TLOAD(theirs, RowAt(RemotePtr(context, scratch, left) + which * chunk, chunk));
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        TSTORE(RowAt(scratch + which * chunk, chunk), theirs);
        pipe_barrier(PIPE_ALL);
    }
    TLOAD(all, RowAt(scratch, whole));
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
    TSTORE(RowAt(output, whole), all);
    pipe_barrier(PIPE_ALL);
}
