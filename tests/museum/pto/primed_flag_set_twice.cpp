// SPDX-License-Identifier: Apache-2.0
// what: A loop begins by setting the flag that says "the tile is free", and ends by taking it. Run
//       twice in a row, the second loop sets it before the first one's has been taken.
// why: The set is on one pipe and the wait on another: a flag back, or a drain, orders the next set
//      after the wait.
// expect: flag
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    constexpr int kPiece = kCount / 4;
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);
    TileOf<kPiece> piece;
    TASSIGN(piece, 0x2000);

    const auto copy_half = [&](float* to, float* from) {
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);  // FAULT
        for (int first = 0; first < kCount / 2; first += kPiece) {
            GlobalOf<kPiece> source(from + first), target(to + first);
            wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
            TLOAD(piece, source);
            set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
            TSTORE(target, piece);
            set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        }
        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
#ifdef MENDED
        pipe_barrier(PIPE_ALL);
#endif
    };
    my.wait_for_peers(0);
    copy_half(my.window, my.in);
    copy_half(my.window + kCount / 2, my.in + kCount / 2);
    my.meet(1);
    my.add_up(sum, next);
    my.store_out(sum);
    my.leave();
}
