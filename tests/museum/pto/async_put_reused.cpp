// SPDX-License-Identifier: Apache-2.0
// what: An asynchronous put is issued, and its source is used again before anybody has waited for
//       it: some of the zeros are put instead.
// why: The engine reads the source at any time until the session has been waited for.
// expect: pipe hazard
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);
    pto::comm::AsyncSession session;
    pto::comm::BuildAsyncSession(next, nullptr, session);

    my.wait_for_peers(0);
    Global staged(my.out), window(my.window);
    my.copy(staged, Global(my.in), sum);
    dsb(DSB_DDR);
    const pto::comm::AsyncEvent put = TPUT_ASYNC(window, staged, session);  // FAULT
#ifdef MENDED
    put.Wait(session);
#endif
    TEXPANDS(next, 0.0f);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(staged, next);  // FAULT
    put.Wait(session);
    my.meet(1);
    my.add_up(sum, next);
    my.store_out(sum);
    my.leave();
}
