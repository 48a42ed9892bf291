// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace peal::shm {

// Each rank touches its own part of new memory first: the pages are then near it, and no call pays
// for them.
inline void populate([[maybe_unused]] std::byte* begin, [[maybe_unused]] std::uint64_t bytes) {
#ifdef MADV_POPULATE_WRITE
    madvise(begin, bytes, MADV_POPULATE_WRITE);  // if it fails, the first touch does it
#endif
}

}  // namespace peal::shm
