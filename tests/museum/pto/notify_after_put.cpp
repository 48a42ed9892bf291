// SPDX-License-Identifier: Apache-2.0
// what: A vector is put into the peers' windows, and they are notified. The signal overtakes the
//       data.
// why: On return from TPUT the load pipe has waited for the last store. The scalar unit, which
//      notifies, has not.
// expect: data race
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.wait_for_peers(0);
    Global in(my.in), window(my.window);
    my.copy(window, in, sum);
    my.notify_peers(1);
    my.wait_for_peers(1);
    for (int peer = 0; peer < my.nranks; ++peer) {
        Global theirs(my.at(peer, my.window));
        if (peer != my.rank) TPUT<pto::AtomicType::AtomicAdd>(theirs, in, next);  // FAULT
    }
#ifdef MENDED
    set_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);
#endif
    my.notify_peers(2);
    my.wait_for_peers(2);
    my.copy(Global(my.out), window, sum);
}
