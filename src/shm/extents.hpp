// SPDX-License-Identifier: Apache-2.0
// Who uses which part of the shared memory.
//
// The table itself lies in the shared memory and every rank works on it, under one lock. A rank
// that dies with the lock held takes the table with it: the alarm goes off, and whoever wants the
// lock then stops waiting for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace peal::shm {

struct Extent {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::int64_t owners = 0;
};

// As it lies in memory. Pages of it that are not used cost nothing.
struct ExtentTable {
    static constexpr std::size_t kCapacity = 1 << 16;

    std::atomic<std::uint32_t> locked = 0;
    std::uint32_t count = 0;
    std::uint64_t begin = 0;  // the memory that is handed out: [begin, end)
    std::uint64_t end = 0;
    std::uint64_t handed_out_bytes = 0;
    Extent extents[kCapacity];  // `count` of them, by offset
};

// One process's view of the table. See World for the contracts.
class Extents {
public:
    Extents(ExtentTable& table, int descriptor, const std::atomic<std::int32_t>& alarm)
        : table_(table), descriptor_(descriptor), alarm_(alarm) {}

    std::uint64_t allocate(std::uint64_t bytes, int owners);
    void disown(std::uint64_t offset);

private:
    class Lock;

    void expect_memory_for(std::uint64_t bytes);
    std::size_t first_gap(std::uint64_t bytes) const;
    std::uint64_t gap_offset(std::size_t index) const;
    void give_back(const Extent& extent) const;

    ExtentTable& table_;
    int descriptor_;
    const std::atomic<std::int32_t>& alarm_;
    std::uint64_t unasked_ = 0;  // so much may be handed out before the system is asked again
};

}  // namespace peal::shm
