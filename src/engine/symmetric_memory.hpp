// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "peal/engine.hpp"

namespace peal {

// Pages of our own: zeroed, and given back to the system.
struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* pages) const;
};
using Pages = std::unique_ptr<std::byte, Unmap>;

struct SymmetricMemory::State {
    int nranks = 0;
    BufferKind kind = BufferKind::window;
    std::uint64_t bytes = 0;        // per rank
    std::uint64_t rank_stride = 0;  // bytes, rounded up to whole pages
    std::uint64_t cell_stride = 0;  // signals only
    std::int64_t generation = 0;    // signals only
    Pages pages;
};

}  // namespace peal
