// SPDX-License-Identifier: Apache-2.0
// Plans of all ranks in the making: buffers that all of them have, lanes, and cells by what they
// are for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "foreign/foreign.hpp"

namespace peal::foreign {

// How the two sides of a collective lie in chunks.
struct Sides {
    std::optional<CollectiveKind> kind;  // nothing: something of its own
    std::uint64_t input = 0, output = 0;
    std::uint64_t counted = 0;  // chunks of Collective::count; 0: there is no such number
    bool in_place = false;

    // In place, the smaller side is the rank's own part of the larger one.
    std::uint64_t input_offset(int rank) const {
        return in_place && input < output ? static_cast<std::uint64_t>(rank) * input : 0;
    }
    std::uint64_t output_offset(int rank) const {
        return in_place && output < input ? static_cast<std::uint64_t>(rank) * output : 0;
    }
};

// Elements of a chunk. Throws Error(usage) when the count is not that of whole chunks.
std::uint64_t chunk_elements(const Sides& sides, const ReadOptions& options,
                             std::uint64_t otherwise);

class Writer {
public:
    Writer(std::string name, int nranks, SourcePtr source, const ReadOptions& options,
           std::uint64_t chunk_elements);

    // Memory of so many chunks, the same on all ranks.
    std::uint16_t add_memory(const std::string& name, BufferKind kind, Direction direction,
                             std::uint64_t chunks);
    std::uint16_t add_signal(const std::string& name);

    Range range(std::uint16_t buffer, int rank, std::uint64_t chunk, std::uint64_t chunks) const {
        return {buffer, rank, chunk * chunk_bytes_, chunks * chunk_bytes_};
    }
    // A cell of a rank for something; the same one for the same thing.
    template <class... Keys>
    Cell cell(std::uint16_t signal, int rank, Keys... keys) {
        auto& cells = cells_[{signal, rank}];
        const std::vector<std::int64_t> key = {static_cast<std::int64_t>(keys)...};
        return {signal, rank, cells.try_emplace(key, cells.size()).first->second};
    }

    // What follows for this rank is a list of its own.
    void begin_lane(int rank) { begins_[static_cast<std::size_t>(rank)] = true; }
    void write(int rank, std::uint32_t line, Action action);
    void copy(int rank, std::uint32_t line, const Range& dst, const Range& src);
    void reduce(int rank, std::uint32_t line, const Range& dst, std::vector<Range> src);
    // The cell becomes, or is awaited to be at least, `value` in each call anew: what it holds goes
    // up by `per_call` with every call.
    void notify(int rank, std::uint32_t line, const Cell& cell, std::int64_t value,
                std::int64_t per_call);
    void wait(int rank, std::uint32_t line, const Cell& cell, std::int64_t value,
              std::int64_t per_call);

    std::vector<Plan> finish() &&;

private:
    std::vector<Plan> plans_;
    std::vector<bool> begins_;
    std::map<std::pair<std::uint16_t, int>, std::map<std::vector<std::int64_t>, std::uint64_t>>
        cells_;
    std::vector<std::vector<std::uint64_t>> shapes_;
    Element element_;
    ReduceOp op_;
    std::uint64_t chunk_elements_, chunk_bytes_;
};

// Buffers of a collective: its two sides, or one where it is in place. Those are windows that peers
// address.
struct SideBuffers {
    std::uint16_t input = 0, output = 0;
};
SideBuffers add_sides(Writer& writer, const Sides& sides, bool writes_input, bool are_windows);

ForeignPlans finish(Writer writer, const Sides& sides, const SideBuffers& buffers,
                    const ReadOptions& options, std::uint64_t chunk_elements);

}  // namespace peal::foreign
