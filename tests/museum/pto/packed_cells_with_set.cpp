// SPDX-License-Identifier: Apache-2.0
// what: Signals of all writers are packed into one line to save memory. Barriers fail on the
//       device.
// why: `Set` writes back a whole line, with its neighbours' old values. Each writer has a line of
//      its own, or all add atomically.
// expect: data race
// ranks: 3, 4
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

#ifdef MENDED
    constexpr int kStride = 16;
#else
    constexpr int kStride = 1;
#endif
    const auto meet = [&](int step) {
        pipe_barrier(PIPE_ALL);
        dsb(DSB_DDR);
        for (int peer = 0; peer < my.nranks; ++peer) {
            if (peer == my.rank) continue;
            Signal mine(my.at(peer, my.signals + my.rank * kStride));
            TNOTIFY(mine, my.value(step), NotifyOp::Set);  // FAULT
        }
        for (int peer = 0; peer < my.nranks; ++peer) {
            if (peer == my.rank) continue;
            Signal theirs(my.signals + peer * kStride);
            TWAIT(theirs, my.value(step), WaitCmp::GE);
        }
    };
    my.copy(Global(my.window), Global(my.in), sum);
    meet(1);
    my.add_up(sum, next);
    my.store_out(sum);
    meet(2);
}
