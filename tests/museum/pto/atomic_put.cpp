// SPDX-License-Identifier: Apache-2.0
// what: Everybody adds its vector to everybody's window, all at once. Without the atomic add,
//       contributions get lost. (With it, the original simulator fails the kernel, which is right.)
// why: Atomic additions to the same elements do not clash, and windows are zeroed before the first.
// expect: data race
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum;
    TASSIGN(sum, 0x0000);

    TEXPANDS(sum, 0.0f);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    Global window(my.window), in(my.in);
    TSTORE(window, sum);
    my.meet(1);
    for (int peer = 0; peer < my.nranks; ++peer) {
        Global theirs(my.at(peer, my.window));
#ifdef MENDED
        TPUT<pto::AtomicType::AtomicAdd>(theirs, in, sum);
#else
        TPUT(theirs, in, sum);  // FAULT
#endif
    }
    my.meet(2);
    my.copy(Global(my.out), window, sum);
}
