// SPDX-License-Identifier: Apache-2.0
// what: The root adds up, puts the sum into the peers' windows over the network and notifies them.
//       A signal arrives before its data.
// why: A put is complete when it has been flushed, here by a wait on its session: that comes before
//      the notify.
// expect: data race
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args, 3);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);
    pto::comm::AsyncSession session;
    pto::comm::BuildAsyncSession<pto::comm::DmaEngine::URMA>(next, nullptr, session);

    my.stage(sum);
    if (my.rank == 0) {
        my.add_up(sum, next);
        my.store_out(sum);
        pipe_barrier(PIPE_ALL);
        dsb(DSB_DDR);
        pto::comm::AsyncEvent put;
        for (int peer = 1; peer < my.nranks; ++peer) {
            Global theirs(my.at(peer, my.window));
            put = TPUT_ASYNC<pto::comm::DmaEngine::URMA>(theirs, Global(my.out), session);  // FAULT
        }
#ifdef MENDED
        put.Wait(session);
#endif
        my.notify_peers(2);
    } else {
        TWAIT(Signal(my.row(0)), my.value(2), WaitCmp::GE);
        my.copy(Global(my.out), Global(my.window), sum);
    }
    pipe_barrier(PIPE_ALL);
    my.notify_peers(3);
}
