// SPDX-License-Identifier: Apache-2.0
// A kernel whose sizes and number of ranks are known: the plans of all ranks, and what the
// scheduler wants to know of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/plan.hpp"

namespace peal::worker {

// What a rank's plan does with one of its buffers.
struct BufferUse {
    bool reads = false;  // what was there before
    bool writes = false;
    bool writes_all = false;  // every byte
};

struct CompiledKernel {
    // Throws Error(program) if the plans are not valid, Error(usage) if they have too many buffers.
    CompiledKernel(std::vector<Plan> all, std::vector<std::size_t> arguments,
                   std::optional<Collective> meant = {});

    const std::uint64_t id;                      // of this object and no other, ever
    const std::vector<Plan> piped;               // as they were given, if they have pipes
    const std::vector<Plan> plans;               // as devices carry them out
    const std::vector<std::size_t> argument_of;  // for each buffer the place of its argument
    const std::optional<Collective> collective;  // what it must mean, if that is known
    std::vector<std::vector<BufferUse>> uses;    // by rank and buffer
    std::vector<std::uint64_t> traffic_bytes;    // by rank: read and written
};
using CompiledPtr = std::shared_ptr<const CompiledKernel>;

}  // namespace peal::worker
