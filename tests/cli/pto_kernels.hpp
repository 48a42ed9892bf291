// SPDX-License-Identifier: Apache-2.0
// Small PTO kernels for tests of the command.
#pragma once

#include <string>

namespace peal::test {

// A kernel with this body. It has tiles `a` and `b` of 64 floats and knows its arguments as `in`,
// `out` and `window`, and the rows of signals behind a window of 64 floats, here and on a peer.
inline std::string pto_kernel(const std::string& body) {
    return R"(#include "platform_comm/comm_context.h"
#include "pto/comm/pto_comm_inst.hpp"
#include "pto/pto-inst.hpp"
#include "tensor.h"
using Tile = pto::Tile<pto::TileType::Vec, float, 1, 64>;
using Global = pto::GlobalTensor<float, pto::Shape<1, 1, 1, 1, 64>, pto::Stride<1, 1, 1, 1, 1>>;
using namespace pto::comm;
static float* begin(int64_t x) {
    return reinterpret_cast<float*>(reinterpret_cast<ChipTensor*>(x)->buffer.addr);
}
extern "C" AICORE void kernel_entry(int64_t* args) {
    float *in = begin(args[0]), *out = begin(args[1]), *window = begin(args[2]);
    auto* context = reinterpret_cast<CommContext*>(args[4]);
    auto row = [&](int peer, int r) {
        auto mine = reinterpret_cast<uint64_t>(window) - context->windowsIn[context->rankId];
        return Signal(reinterpret_cast<int32_t*>(context->windowsIn[peer] + mine) + 64 + 16 * r);
    };
    Tile a, b;
    TASSIGN(a, 0);
    TASSIGN(b, 1024);
)" + body + "}\n";
}

// Where the body begins, so that tests can name its lines.
inline constexpr int kBodyLine = 21;

}  // namespace peal::test
