// SPDX-License-Identifier: Apache-2.0
// what: The second tile begins in the middle of the first: its load overwrites half of what was
//       loaded before.
// why: A tile of 64 floats has 256 bytes.
// expect: tile memory
// ranks: 2
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, first, second;
    TASSIGN(sum, 0x0000);
    TASSIGN(first, 0x1000);
#ifdef MENDED
    TASSIGN(second, 0x1000 + 256);
#else
    TASSIGN(second, 0x1000 + 128);
#endif

    my.stage(sum);
    Global from_0(my.at(0, my.window)), from_1(my.at(1, my.window));
    TLOAD(first, from_0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TLOAD(second, from_1);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
    TADD(sum, first, second);  // FAULT
    my.store_out(sum);
    my.leave();
}
