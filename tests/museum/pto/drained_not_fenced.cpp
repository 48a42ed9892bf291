// SPDX-License-Identifier: Apache-2.0
// what: The store is drained, the peers are notified, and one of them loads what was there before.
// why: Out of the pipe is not yet visible to another rank: a fence, dsb(DSB_DDR), comes between the
//      drain and the notify.
// expect: data race
// order: fenced
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.wait_for_peers(0);
    TLOAD(sum, Global(my.in));
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(Global(my.window), sum);  // FAULT
    pipe_barrier(PIPE_ALL);
#ifdef MENDED
    dsb(DSB_DDR);
#endif
    for (int peer = 0; peer < my.nranks; ++peer) {
        Signal theirs(my.at(peer, my.row(my.rank)));
        if (peer != my.rank) TNOTIFY(theirs, my.value(1), NotifyOp::Set);
    }
    my.wait_for_peers(1);
    my.add_up(sum, next);
    my.store_out(sum);
    my.leave();
}
