// SPDX-License-Identifier: Apache-2.0
// what: One event is set, another is awaited: the store pipe stalls for good.
// why: A flag is named by both pipes and the event.
// expect: flag
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.stage(sum);
    my.add_up(sum, next);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);
#ifdef MENDED
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);
#else
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID2);  // FAULT
#endif
    Global out(my.out);
    TSTORE(out, sum);
    my.leave();
}
