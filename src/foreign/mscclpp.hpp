// SPDX-License-Identifier: Apache-2.0
// An execution plan of MSCCL++: what its JSON says, with all references resolved.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/foreign.hpp"

namespace peal::foreign {

enum class PlusBuffer : std::uint8_t { input, output, scratch };

// Chunks of a buffer, of this rank or a peer.
struct PlusPlace {
    PlusBuffer buffer = PlusBuffer::input;
    int rank = 0;
    std::int64_t index = 0, chunks = 0;
};

// One direction-less end of a channel: the number-th between this rank and the peer.
struct PlusChannel {
    int peer = 0;
    std::int64_t number = 0;  // among those of its type
    bool is_port = false;     // somebody else carries out what is asked of it, in order
};

enum class PlusType : std::uint8_t {
    nop,
    put,
    get,
    copy,
    reduce,            // and send to peers
    put_packets,       // plain memory into packets
    read_put_packets,  // packets into packets
    reduce_packets,    // of packets and plain memory, into plain memory and packets
    unpack_packets,    // packets into plain memory
    signal,
    wait,
    flush,  // until what was asked of a port channel is done
    barrier,
    acquire,
    release,
    pipeline,
};

struct PlusOperation {
    std::uint32_t line = 0;
    PlusType type = PlusType::nop;
    std::vector<PlusPlace> src, dst;
    std::vector<PlusChannel> channels;  // of a put on port channels, one for each destination
    bool then_signals = false, then_flushes = false;  // such a put
    std::int64_t slice = 0, slices = 1;               // of the chunks, this thread block's part
    std::int64_t barrier = 0, blocks = 0;
    std::vector<std::int64_t> semaphores;
    std::int64_t unit_bytes = 0, unit_chunks = 0;  // a pipeline goes through so many chunks like so
    std::vector<PlusOperation> operations;
};

struct PlusBlock {
    std::uint32_t line = 0;
    std::vector<PlusOperation> operations;
};

struct PlusGpu {
    std::uint32_t line = 0;
    std::int64_t input = 0, output = 0, scratch = 0;  // chunks
    std::vector<std::int64_t> semaphores;             // what they hold at first
    std::vector<PlusBlock> blocks;
};

struct PlusPlan {
    SourcePtr source;
    std::uint32_t line = 1;
    std::string name;
    std::string collective;
    bool in_place = false;
    bool alternates = false;  // its scratch is two halves, used in turn
    std::int64_t alignment = 16;
    std::vector<PlusGpu> gpus;
};

PlusPlan read_mscclpp(const SourcePtr& source);

ForeignPlans plans_of(const PlusPlan& plan, const ReadOptions& options);

}  // namespace peal::foreign
