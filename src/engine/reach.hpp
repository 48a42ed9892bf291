// SPDX-License-Identifier: Apache-2.0
// Private memory of peers, for plans whose windows are bound to it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace peal {

class Reach {
public:
    virtual ~Reach() = default;

    // Copies from or to a peer's memory, at an offset in it. False: it cannot be reached, or not
    // all of it; then some of it may have been copied.
    virtual bool fetch(std::byte* to, int rank, std::uint64_t offset, std::uint64_t bytes) = 0;
    virtual bool put(int rank, std::uint64_t offset, const std::byte* from,
                     std::uint64_t bytes) = 0;
};

}  // namespace peal
