// SPDX-License-Identifier: Apache-2.0
// what: A flag is set once more than it is awaited. It is still set when the next kernel starts.
// why: Each set has exactly one wait.
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
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
#ifndef MENDED
    set_flag(PIPE_V, PIPE_S, EVENT_ID1);  // FAULT
#endif
    Global out(my.out);
    TSTORE(out, sum);
    my.leave();
}
