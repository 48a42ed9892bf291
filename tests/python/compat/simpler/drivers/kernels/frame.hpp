// SPDX-License-Identifier: Apache-2.0
// What the kernels of these drivers share: peers, pieces of vectors, and a way to leave one of
// their syncs out.
#pragma once

#ifndef __aicore__
#define __aicore__ [aicore]
#endif

#include <cstdint>

#include "pipe_sync.h"
#include "platform_comm/comm_context.h"
#include "pto/comm/pto_comm_inst.hpp"
#include "pto/pto-inst.hpp"
#include "tensor.h"

inline constexpr int kMostRanks = 16;
inline constexpr int kMostElements = 256;

// Sync n of a kernel; one is left out where a driver asks for it, to see it missed.
#define SYNC(n) if (left_out != (n))

template <class T>
AICORE inline __gm__ T* Elements(int64_t argument) {
    auto* tensor = reinterpret_cast<__gm__ Tensor*>(argument);
    return reinterpret_cast<__gm__ T*>(tensor->buffer.addr) + tensor->start_offset;
}

template <class T>
AICORE inline __gm__ T* RemotePtr(__gm__ CommContext* context, __gm__ T* local, int peer) {
    const uint64_t offset = reinterpret_cast<uint64_t>(local) - context->windowsIn[context->rankId];
    return reinterpret_cast<__gm__ T*>(context->windowsIn[peer] + offset);
}

// What the collectives are given: input, output, scratch window; nranks, elements of a block,
// context, sync to leave out. The cells stand behind the vector in the window.
struct Call {
    __gm__ float* input;
    __gm__ float* output;
    __gm__ float* scratch;
    __gm__ int32_t* cells;
    int nranks;
    int count;
    __gm__ CommContext* context;
    int me;
    int left_out;
};

AICORE inline Call CallOf(__gm__ int64_t* args) {
    Call call;
    call.input = Elements<float>(args[0]);
    call.output = Elements<float>(args[1]);
    call.scratch = Elements<float>(args[2]);
    call.cells = reinterpret_cast<__gm__ int32_t*>(call.scratch + kMostElements);
    call.nranks = static_cast<int>(args[3]);
    call.count = static_cast<int>(args[4]);
    call.context = reinterpret_cast<__gm__ CommContext*>(args[5]);
    call.me = static_cast<int>(call.context->rankId);
    call.left_out = static_cast<int>(args[6]);
    return call;
}

using RowShape = pto::Shape<1, 1, 1, 1, pto::DYNAMIC>;
using RowStride = pto::Stride<1, 1, 1, pto::DYNAMIC, 1>;
using Row = pto::GlobalTensor<float, RowShape, RowStride, pto::Layout::ND>;
using RowTile =
    pto::Tile<pto::TileType::Vec, float, 1, kMostElements, pto::BLayout::RowMajor, 1, pto::DYNAMIC>;

AICORE inline Row RowAt(__gm__ float* data, int count) {
    return Row(data, RowShape(count), RowStride(count));
}

// Every rank adds one to its cell at every other; rank r's is cells[r].
AICORE inline void RingAll(__gm__ CommContext* context, __gm__ int32_t* cells, int nranks) {
    const int me = static_cast<int>(context->rankId);
    for (int peer = 0; peer < nranks; ++peer) {
        if (peer == me) continue;
        pto::comm::TNOTIFY(pto::comm::Signal(RemotePtr(context, cells + me, peer)), 1,
                           pto::comm::NotifyOp::AtomicAdd);
    }
}

AICORE inline void WaitForAll(__gm__ CommContext* context, __gm__ int32_t* cells, int nranks) {
    const int me = static_cast<int>(context->rankId);
    for (int peer = 0; peer < nranks; ++peer) {
        if (peer == me) continue;
        pto::comm::TWAIT(pto::comm::Signal(cells + peer), 1, pto::comm::WaitCmp::GE);
    }
}
