// SPDX-License-Identifier: Apache-2.0
// what: `>= 1` on cells that start at zero is right once. The second call on the same window finds
//       the 1 of the first and passes at once.
// why: Values that grow with the calls on a window.
// expect: stale signal
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

#ifdef MENDED
    const int32_t earlier = my.value(0);
#else
    const int32_t earlier = 0;
#endif
    const auto meet = [&](int step) {
        pipe_barrier(PIPE_ALL);
        dsb(DSB_DDR);
        for (int peer = 0; peer < my.nranks; ++peer) {
            if (peer == my.rank) continue;
            Signal mine(my.at(peer, my.row(my.rank)));
            TNOTIFY(mine, 1, NotifyOp::AtomicAdd);
        }
        for (int peer = 0; peer < my.nranks; ++peer) {
            if (peer == my.rank) continue;
            Signal theirs(my.row(peer));
            TWAIT(theirs, earlier + step, WaitCmp::GE);  // FAULT
        }
    };
    my.copy(Global(my.window), Global(my.in), sum);
    meet(1);
    my.add_up(sum, next);
    my.store_out(sum);
    meet(2);
}
