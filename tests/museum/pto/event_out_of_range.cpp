// SPDX-License-Identifier: Apache-2.0
// what: Event 8, where the device has 0 to 7.
// why: Events are few. One that has been awaited is free again.
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
#ifdef MENDED
    const event_t event = EVENT_ID7;
#else
    const event_t event = static_cast<event_t>(8);
#endif
    set_flag(PIPE_V, PIPE_MTE3, event);   // FAULT
    wait_flag(PIPE_V, PIPE_MTE3, event);  // FAULT
    Global out(my.out);
    TSTORE(out, sum);
    my.leave();
}
