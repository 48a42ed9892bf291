// SPDX-License-Identifier: Apache-2.0
// what: All peers ring the same cell, and the first one opens the barrier.
// why: Each writer has a cell of its own, or the cell is added to and awaited in full.
// expect: read of unwritten bytes
// ranks: 3
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

#ifdef MENDED
    const auto row_of = [&](int writer) { return my.row(writer); };
#else
    const auto row_of = [&](int) { return my.row(0); };
#endif
    const auto meet = [&](int step) {
        pipe_barrier(PIPE_ALL);
        dsb(DSB_DDR);
        for (int peer = 0; peer < my.nranks; ++peer) {
            if (peer == my.rank) continue;
            Signal mine(my.at(peer, row_of(my.rank)));
            TNOTIFY(mine, my.value(step), NotifyOp::Set);
        }
        for (int peer = 0; peer < my.nranks; ++peer) {
            if (peer == my.rank) continue;
            Signal theirs(row_of(peer));
            TWAIT(theirs, my.value(step), WaitCmp::GE);
        }
    };
    my.copy(Global(my.window), Global(my.in), sum);
    meet(1);
    for (int peer = 0; peer < my.nranks; ++peer) {
        Tile& into = peer == 0 ? sum : next;
        Global addend(my.at(peer, my.window));
        TLOAD(into, addend);  // FAULT
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        if (peer > 0) TADD(sum, sum, next);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    }
    my.store_out(sum);
    meet(2);
}
