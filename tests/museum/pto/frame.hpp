// SPDX-License-Identifier: Apache-2.0
// What the exhibits share, so that each shows little more than its fault: the arguments of an
// allreduce of 64 floats, the peers, signals in rows of 64 bytes, and the steps that are right in
// most of them:
//
//   stage(tile);        what peers read is in my window, and in theirs
//   add_up(sum, next);  sum = all windows, in rank order
//   store_out(sum);
//   leave();            I have read; peers may begin the next call
#pragma once

#include <cstdint>

#include "platform_comm/comm_context.h"
#include "pto/comm/comm_types.hpp"
#include "pto/comm/pto_comm_inst.hpp"
#include "pto/common/pto_tile.hpp"
#include "pto/pto-inst.hpp"
#include "tensor.h"

namespace museum {

using pto::comm::NotifyOp;
using pto::comm::Signal;
using pto::comm::WaitCmp;

constexpr int kCount = 64;
constexpr int kColumns = 16;

template <int kElements>
using TileOf = pto::Tile<pto::TileType::Vec, float, 1, kElements>;
template <int kElements>
using GlobalOf = pto::GlobalTensor<float, pto::Shape<1, 1, 1, 1, kElements>,
                                   pto::Stride<1, 1, 1, 1, 1>, pto::Layout::ND>;
using Tile = TileOf<kCount>;
using Global = GlobalOf<kCount>;

class Frame {
public:
    AICORE explicit Frame(const int64_t* args, int steps = 2)
        : in(begin_of(args[0])),
          out(begin_of(args[1])),
          window(begin_of(args[2])),
          signals(reinterpret_cast<int32_t*>(window) + lines(size_of(args[2])) * kColumns),
          nranks(static_cast<int>(args[3])),
          context_(reinterpret_cast<CommContext*>(args[4])),
          base_(steps * static_cast<int32_t>(args[5])) {
        rank = static_cast<int>(context_->rankId);
    }

    float *in, *out, *window;
    int32_t* signals;
    int nranks;
    int rank;

    template <class T>
    AICORE T* at(int peer, T* mine) const {
        const uint64_t offset = reinterpret_cast<uint64_t>(mine) - context_->windowsIn[rank];
        return reinterpret_cast<T*>(context_->windowsIn[peer] + offset);
    }

    // The row that `writer` has in my window.
    AICORE int32_t* row(int writer) const { return signals + writer * kColumns; }
    // What a signal holds at this step of this call.
    AICORE int32_t value(int step) const { return base_ + step; }

    // What is out of the pipes is visible to them.
    AICORE void notify_peers(int step) const {
        dsb(DSB_DDR);
        for (int peer = 0; peer < nranks; ++peer) {
            if (peer != rank) TNOTIFY(Signal(at(peer, row(rank))), value(step), NotifyOp::Set);
        }
    }
    AICORE void wait_for_peers(int step) const {
        for (int peer = 0; peer < nranks; ++peer) {
            if (peer != rank) TWAIT(Signal(row(peer)), value(step), WaitCmp::GE);
        }
    }
    // Tells peers how far I am, what I did before being done, and waits until all are as far.
    AICORE void meet(int step) const {
        pipe_barrier(PIPE_ALL);
        notify_peers(step);
        wait_for_peers(step);
    }

    // Moves a vector through the tile. Everything before and in it is done on return.
    template <class Target, class Source, class Through>
    AICORE void copy(const Target& target, const Source& source, Through& tile) const {
        pipe_barrier(PIPE_ALL);
        TLOAD(tile, source);
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        TSTORE(target, tile);
        pipe_barrier(PIPE_ALL);
    }

    AICORE void stage(Tile& tile) const {
        wait_for_peers(0);
        copy(Global(window), Global(in), tile);
        meet(1);
    }
    AICORE void add_up(Tile& sum, Tile& next) const {
        for (int peer = 0; peer < nranks; ++peer) {
            Tile& into = peer == 0 ? sum : next;
            Global addend(at(peer, window));
            TLOAD(into, addend);
            set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
            if (peer > 0) TADD(sum, sum, next);
            set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
            wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        }
    }
    AICORE void store_out(Tile& sum) const {
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(Global(out), sum);
    }
    AICORE void leave() const {
        pipe_barrier(PIPE_ALL);
        notify_peers(2);
    }

private:
    AICORE static const ChipTensor* tensor(int64_t argument) {
        return reinterpret_cast<const ChipTensor*>(argument);
    }
    AICORE static float* begin_of(int64_t argument) {
        return reinterpret_cast<float*>(tensor(argument)->buffer.addr) +
               tensor(argument)->start_offset;
    }
    AICORE static int64_t size_of(int64_t argument) { return tensor(argument)->shapes[0]; }
    AICORE static int64_t lines(int64_t floats) { return (floats + kColumns - 1) / kColumns; }

    const CommContext* context_;
    int32_t base_;
};

}  // namespace museum
