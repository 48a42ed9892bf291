// SPDX-License-Identifier: Apache-2.0
// what: Loads, vector work and stores as for a CPU: no flags. The original simulator passes it.
// why: Pipes run beside each other. Who uses what another pipe makes waits for its flag; so does
//      who overwrites what another pipe uses.
// expect: pipe hazard
#include "frame.hpp"

using namespace museum;

#ifdef MENDED
#define HAND_OVER(from, to) set_flag(from, to, EVENT_ID0), wait_flag(from, to, EVENT_ID0)
#else
#define HAND_OVER(from, to)
#endif

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.stage(sum);
    for (int peer = 0; peer < my.nranks; ++peer) {
        Tile& into = peer == 0 ? sum : next;
        Global addend(my.at(peer, my.window));
        TLOAD(into, addend);  // FAULT
        HAND_OVER(PIPE_MTE2, PIPE_V);
        if (peer > 0) TADD(sum, sum, next);
        HAND_OVER(PIPE_V, PIPE_MTE2);
    }
    HAND_OVER(PIPE_V, PIPE_MTE3);
    Global out(my.out);
    TSTORE(out, sum);
    my.leave();
}
