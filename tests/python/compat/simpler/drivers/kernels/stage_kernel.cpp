// SPDX-License-Identifier: Apache-2.0
// The first half of an allreduce: stages the input and tells everybody. args: input, address of the
// window; nranks, context.
#include "frame.hpp"

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {
    auto* shown = reinterpret_cast<__gm__ Tensor*>(args[0]);
    __gm__ float* input = Elements<float>(args[0]);
    __gm__ float* scratch = reinterpret_cast<__gm__ float*>(args[1]);
    const int nranks = static_cast<int>(args[2]);
    __gm__ auto* context = reinterpret_cast<__gm__ CommContext*>(args[3]);
    const int count = static_cast<int>(shown->shapes[0]);
    RowTile row(count);
    TASSIGN(row, 0x0);
    TLOAD(row, RowAt(input, count));
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(RowAt(scratch, count), row);
    pipe_sync();
    RingAll(context, reinterpret_cast<__gm__ int32_t*>(scratch + kMostElements), nranks);
}
