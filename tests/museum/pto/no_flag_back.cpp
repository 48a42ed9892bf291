// SPDX-License-Identifier: Apache-2.0
// what: The flag from load to vector is there, the one back is not: the next load overwrites what
//       is still being added.
// why: A tile that is used again has two hand-overs: full, and empty again.
// expect: pipe hazard
// ranks: 3
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.stage(sum);
    for (int peer = 0; peer < my.nranks; ++peer) {
        Tile& into = peer == 0 ? sum : next;
        Global addend(my.at(peer, my.window));
        const auto event = static_cast<event_t>(peer);
        TLOAD(into, addend);  // FAULT
        set_flag(PIPE_MTE2, PIPE_V, event);
        wait_flag(PIPE_MTE2, PIPE_V, event);
        if (peer > 0) TADD(sum, sum, next);
#ifdef MENDED
        set_flag(PIPE_V, PIPE_MTE2, event);
        wait_flag(PIPE_V, PIPE_MTE2, event);
#endif
    }
    my.store_out(sum);
    my.leave();
}
