// SPDX-License-Identifier: Apache-2.0
// What the kernels of this directory share: their arguments, the ranks around them, signals, and
// moving and adding up vectors that are larger than tile memory.
//
// A window is the data, then, from the next line of 64 bytes on, rows of signals. Each row has one
// writer, so that `Set`, which writes back a whole line, harms nobody. Signals only grow: a call
// counts on from where the calls before it, `generation` of them, ended. So nothing is ever reset.
#pragma once

#include <cstdint>

#include "platform_comm/comm_context.h"
#include "pto/comm/comm_types.hpp"
#include "pto/comm/pto_comm_inst.hpp"
#include "pto/common/pto_tile.hpp"
#include "pto/pto-inst.hpp"
#include "tensor.h"

namespace kernel {

// ---------------------------------------------------------------------------- arguments

struct Vector {
    __gm__ float* begin;
    int64_t count;
};

AICORE inline Vector vector_of(int64_t argument) {
    const __gm__ ChipTensor* tensor = reinterpret_cast<__gm__ ChipTensor*>(argument);
    int64_t count = 1;
    for (uint32_t i = 0; i < tensor->ndims; ++i) count *= tensor->shapes[i];
    return {reinterpret_cast<__gm__ float*>(tensor->buffer.addr) + tensor->start_offset, count};
}

// A vector in equal parts, one for each rank, as nearly as its length allows.
AICORE inline Vector part_of(Vector whole, int part, int parts) {
    const int64_t first = whole.count * part / parts;
    const int64_t end = whole.count * (part + 1) / parts;
    return {whole.begin + first, end - first};
}

// ---------------------------------------------------------------------------- ranks and signals

// The ranks that share a window, seen from one of them.
struct Team {
    __gm__ CommContext* context;
    int nranks;
    int rank;
    __gm__ int32_t* signals;

    AICORE Team(int64_t context_argument, int64_t nranks_argument, Vector window)
        : context(reinterpret_cast<__gm__ CommContext*>(context_argument)),
          nranks(static_cast<int>(nranks_argument)),
          rank(static_cast<int>(context->rankId)) {
        constexpr int64_t kLine = 64 / sizeof(float);
        const int64_t lines = (window.count + kLine - 1) / kLine;
        signals = reinterpret_cast<__gm__ int32_t*>(window.begin + lines * kLine);
    }

    // The same place in a peer's window.
    template <class T>
    AICORE __gm__ T* at(int peer, __gm__ T* mine) const {
        const uint64_t offset = reinterpret_cast<uint64_t>(mine) - context->windowsIn[rank];
        return reinterpret_cast<__gm__ T*>(context->windowsIn[peer] + offset);
    }
    AICORE Vector at(int peer, Vector mine) const { return {at(peer, mine.begin), mine.count}; }

    AICORE void notify(int peer, int row, int32_t value) const {
        pto::comm::Signal signal(at(peer, row_of(row)));
        pto::comm::TNOTIFY(signal, value, pto::comm::NotifyOp::Set);
    }
    AICORE void wait(int row, int32_t value) const {
        pto::comm::Signal signal(row_of(row));
        pto::comm::TWAIT(signal, value, pto::comm::WaitCmp::GE);
    }

    // What I did before is done, and the others see it.
    AICORE void finish() const {
        pipe_barrier(PIPE_ALL);
        dsb(DSB_DDR);
    }
    // Tells every peer how far I am. What I did before is done.
    AICORE void notify_peers(int32_t value) const {
        finish();
        for (int step = 1; step < nranks; ++step) notify(neighbour(step), rank, value);
    }
    AICORE void wait_for_peers(int32_t value) const {
        for (int step = 1; step < nranks; ++step) wait(neighbour(step), value);
    }

    // The rank so many steps to the right, or to the left.
    AICORE int neighbour(int steps) const { return (rank + steps + 2 * nranks) % nranks; }

private:
    AICORE __gm__ int32_t* row_of(int row) const {
        constexpr int kColumns = 64 / sizeof(int32_t);
        return signals + row * kColumns;
    }
};

// ---------------------------------------------------------------------------- vectors

constexpr int kTileElements = 8192;
constexpr int kTileBytes = kTileElements * sizeof(float);

using Tile = pto::Tile<pto::TileType::Vec, float, 1, kTileElements, pto::BLayout::RowMajor, -1, -1>;
using Shape = pto::Shape<1, 1, 1, 1, pto::DYNAMIC>;
using Stride = pto::Stride<1, 1, 1, 1, 1>;
using Global = pto::GlobalTensor<float, Shape, Stride, pto::Layout::ND>;

AICORE inline Tile tile_in(int slot, int length) {
    Tile tile(1, length);
    TASSIGN(tile, slot * kTileBytes);
    return tile;
}
AICORE inline Global piece_of(__gm__ float* begin, int length) {
    return Global(begin, Shape(length), Stride());
}
AICORE inline int piece_length(int64_t count, int64_t offset) {
    return static_cast<int>(count - offset < kTileElements ? count - offset : kTileElements);
}

// Two tiles take turns: one is loaded while the other is stored. Loads that follow come after the
// stores.
AICORE inline void copy(__gm__ float* to, Vector from) {
    int pieces = 0;
    for (int64_t offset = 0; offset < from.count; offset += kTileElements, ++pieces) {
        const int turn = pieces % 2;
        const auto event = turn == 0 ? EVENT_ID0 : EVENT_ID1;
        const int length = piece_length(from.count, offset);
        Tile tile = tile_in(turn, length);
        Global source = piece_of(from.begin + offset, length);
        Global target = piece_of(to + offset, length);
        if (pieces >= 2) wait_flag(PIPE_MTE3, PIPE_MTE2, event);  // stored: the tile is free
        TLOAD(tile, source);
        set_flag(PIPE_MTE2, PIPE_MTE3, event);
        wait_flag(PIPE_MTE2, PIPE_MTE3, event);
        TSTORE(target, tile);
        set_flag(PIPE_MTE3, PIPE_MTE2, event);
    }
    if (pieces > 0) wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    if (pieces > 1) wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
}

// to = source(0) + source(1) + ... in this order. Two tiles take turns: the next source is loaded
// while the one before it is added. Loads that follow come after the stores.
template <class SourceOf>
AICORE inline void add_up(Vector to, int sources, SourceOf source) {
    for (int64_t offset = 0; offset < to.count; offset += kTileElements) {
        const int length = piece_length(to.count, offset);
        Tile sum = tile_in(2, length);
        Global first = piece_of(source(0) + offset, length);
        TLOAD(sum, first);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
        for (int i = 1; i < sources; ++i) {
            const int turn = i % 2;
            const auto event = turn == 0 ? EVENT_ID0 : EVENT_ID1;
            Tile next = tile_in(turn, length);
            Global addend = piece_of(source(i) + offset, length);
            if (i > 2) wait_flag(PIPE_V, PIPE_MTE2, event);  // added: the tile is free
            TLOAD(next, addend);
            set_flag(PIPE_MTE2, PIPE_V, event);
            wait_flag(PIPE_MTE2, PIPE_V, event);
            TADD(sum, sum, next);
            if (i + 2 < sources) set_flag(PIPE_V, PIPE_MTE2, event);
        }
        Global target = piece_of(to.begin + offset, length);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(target, sum);
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    }
}

}  // namespace kernel
