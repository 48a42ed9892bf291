// SPDX-License-Identifier: Apache-2.0
// what: The scalar unit reads a number that a peer has written in this call, and gets that of the
//       call before.
// why: A read may be served from the cache: the line is forgotten (dcci) between the wait and the
//      read.
// expect: data race
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.stage(sum);
    for (int peer = 0; peer < my.nranks; ++peer) {
        const float* count = my.at(peer, my.window);
#ifdef MENDED
        dcci(count, SINGLE_CACHE_LINE);
#endif
        if (peer != my.rank) copy_scalar(my.out + peer, count);  // FAULT
    }
    dcci(my.out, SINGLE_CACHE_LINE);
    dsb(DSB_DDR);
    my.add_up(sum, next);
    my.store_out(sum);
    my.leave();
}
