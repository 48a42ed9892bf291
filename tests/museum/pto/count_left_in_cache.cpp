// SPDX-License-Identifier: Apache-2.0
// what: The scalar unit writes a number into its window and notifies the peers. They find the
//       number of an earlier call, or none.
// why: What the scalar unit writes stays in its cache until the line is cleaned (dcci) and that is
//      waited for (dsb).
// expect: data race
// ranks: 2
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.wait_for_peers(0);
    my.copy(Global(my.window), Global(my.in), sum);
    copy_scalar(my.window, my.in);  // FAULT
#ifdef MENDED
    dcci(my.window, SINGLE_CACHE_LINE);
#endif
    my.meet(1);
    my.add_up(sum, next);
    my.store_out(sum);
    my.leave();
}
