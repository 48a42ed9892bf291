// SPDX-License-Identifier: Apache-2.0
// what: The window is cleared with what TROWSUM leaves in its scratch tile, and everybody adds to
//       it.
// why: A scratch tile holds anything afterwards. Zeros come from TEXPANDS.
// expect: wrong result
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, scratch;
    pto::Tile<pto::TileType::Vec, float, 1, 8, pto::BLayout::RowMajor, 1, 1> total;
    TASSIGN(sum, 0x0000);
    TASSIGN(scratch, 0x1000);
    TASSIGN(total, 0x2000);

    Global window(my.window), in(my.in), out(my.out);
    TLOAD(sum, in);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TROWSUM(total, sum, scratch);
#ifdef MENDED
    TEXPANDS(scratch, 0.0f);
#endif
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(window, scratch);
    my.meet(1);
    for (int peer = 0; peer < my.nranks; ++peer) {
        Global theirs(my.at(peer, my.window));
        TPUT<pto::AtomicType::AtomicAdd>(theirs, in, sum);
    }
    my.meet(2);
    TLOAD(sum, window);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(out, sum);  // FAULT
}
