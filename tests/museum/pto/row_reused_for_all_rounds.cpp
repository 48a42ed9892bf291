// SPDX-License-Identifier: Apache-2.0
// what: Every round of a chunked allreduce rings the same row with the same value: from the second
//       round on the barrier is open.
// why: A row for each round, or a value that grows with the rounds.
// expect: data race
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    constexpr int kRounds = 4;
    constexpr int kPiece = kCount / kRounds;
    const Frame my(args, kRounds + 1);
    TileOf<kPiece> sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.wait_for_peers(0);
    for (int round = 0; round < kRounds; ++round) {
        const int first = round * kPiece;
        my.copy(GlobalOf<kPiece>(my.window + first), GlobalOf<kPiece>(my.in + first), sum);
#ifdef MENDED
        my.meet(round + 1);
#else
        my.meet(1);
#endif
        for (int peer = 0; peer < my.nranks; ++peer) {
            TileOf<kPiece>& into = peer == 0 ? sum : next;
            GlobalOf<kPiece> addend(my.at(peer, my.window + first));
            TLOAD(into, addend);  // FAULT
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            if (peer > 0) TADD(sum, sum, next);
            set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
            wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        }
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(GlobalOf<kPiece>(my.out + first), sum);
    }
    pipe_barrier(PIPE_ALL);
    my.notify_peers(kRounds + 1);
}
