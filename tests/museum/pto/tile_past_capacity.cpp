// SPDX-License-Identifier: Apache-2.0
// what: A tile ends beyond tile memory, which is 192 KiB on a2a3. (a5 has 256.)
// why: Offset and size fit the device that the kernel is for.
// expect: tile memory
// on a5: proved
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next, staged;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);
#ifdef MENDED
    TASSIGN(staged, 192 * 1024 - 256);
#else
    TASSIGN(staged, 192 * 1024 - 128);
#endif

    Global in(my.in), window(my.window);
    my.wait_for_peers(0);
    TLOAD(staged, in);  // FAULT
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(window, staged);
    my.meet(1);
    my.add_up(sum, next);
    my.store_out(sum);
    my.leave();
}
