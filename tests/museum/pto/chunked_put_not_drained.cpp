// SPDX-License-Identifier: Apache-2.0
// what: A vector is put into the peers' windows through a tile that holds a quarter of it, and they
//       are notified. The last pieces are still on their way.
// why: A put in several pieces returns when they are issued: the pipes are drained before the
//      notify.
// expect: data race
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum;
    TileOf<kCount / 4> piece;
    TASSIGN(sum, 0x0000);
    TASSIGN(piece, 0x1000);

    my.wait_for_peers(0);
    Global in(my.in), window(my.window);
    my.copy(window, in, sum);
    my.notify_peers(1);
    my.wait_for_peers(1);
    for (int peer = 0; peer < my.nranks; ++peer) {
        Global theirs(my.at(peer, my.window));
        if (peer != my.rank) TPUT<pto::AtomicType::AtomicAdd>(theirs, in, piece);  // FAULT
    }
#ifdef MENDED
    pipe_barrier(PIPE_ALL);
#endif
    my.notify_peers(2);
    my.wait_for_peers(2);
    my.copy(Global(my.out), window, sum);
}
