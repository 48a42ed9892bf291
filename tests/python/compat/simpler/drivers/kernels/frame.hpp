// SPDX-License-Identifier: Apache-2.0
// What the kernels of these drivers share: peers, pieces of vectors, barriers.
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

using RowShape = pto::Shape<1, 1, 1, 1, pto::DYNAMIC>;
using RowStride = pto::Stride<1, 1, 1, pto::DYNAMIC, 1>;
using Row = pto::GlobalTensor<float, RowShape, RowStride, pto::Layout::ND>;
using RowTile =
    pto::Tile<pto::TileType::Vec, float, 1, kMostElements, pto::BLayout::RowMajor, 1, pto::DYNAMIC>;

AICORE inline Row RowAt(__gm__ float* data, int count) {
    return Row(data, RowShape(count), RowStride(count));
}
