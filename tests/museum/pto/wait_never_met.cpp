// SPDX-License-Identifier: Apache-2.0
// what: A rank waits for a value that nobody sends. The original simulator stops polling after a
//       while, says nothing, and passes it.
// why: Notifies and waits count the same steps.
// expect: deadlock
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.stage(sum);
    my.add_up(sum, next);
    my.store_out(sum);
    my.leave();
    for (int peer = 0; peer < my.nranks; ++peer) {
        if (peer == my.rank) continue;
#ifdef MENDED
        TWAIT(Signal(my.row(peer)), my.value(2), WaitCmp::GE);
#else
        TWAIT(Signal(my.row(peer)), my.value(3), WaitCmp::GE);  // FAULT
#endif
    }
}
