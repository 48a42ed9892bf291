// SPDX-License-Identifier: Apache-2.0
#include "shm/extents.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <thread>

#include "peal/error.hpp"
#include "shm/machine.hpp"

namespace peal::shm {
namespace {

// Of a file's bytes, those that have memory.
std::uint64_t touched_bytes(int descriptor) {
    constexpr std::uint64_t kBlockBytes = 512;
    struct stat status = {};
    return fstat(descriptor, &status) == 0
               ? static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes
               : 0;
}

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

}  // namespace

// Held or not: it is not held when the alarm is on and the lock does not come free.
class Extents::Lock {
public:
    Lock(ExtentTable& table, const std::atomic<std::int32_t>& alarm) : table_(table) {
        for (int tries = 0; !take(); ++tries) {
            // The pause comes first: a holder that is well lets go meanwhile.
            pause(tries);
            if (alarm.load(std::memory_order_relaxed) != 0) {
                take();
                return;
            }
        }
    }
    ~Lock() {
        if (held_) table_.locked.store(0, std::memory_order_release);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    bool held() const { return held_; }

private:
    bool take() {
        // Pairs with the release in the destructor of the last holder.
        held_ = table_.locked.exchange(1, std::memory_order_acquire) == 0;
        return held_;
    }

    static void pause(int tries) {
        constexpr int kYields = 100;
        if (tries < kYields) {
            sched_yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    }

    ExtentTable& table_;
    bool held_ = false;
};

namespace {

// Why a world of so many bytes is no larger, if that can be helped: World::create() takes less than
// the machine suggests where addresses are limited. Ranks have the limits of who made the world.
std::string limit_text(std::uint64_t world_bytes) {
    const std::uint64_t limit = address_limit_bytes();
    const bool is_cause =
        limit != kNoLimit && world_bytes <= limit / 2 && world_bytes < physical_memory_bytes();
    if (!is_cause) return ";";
    return fmt::format(", half of what `ulimit -v` ({}) leaves; raise that limit or",
                       memory_text(limit));
}

}  // namespace

std::uint64_t Extents::allocate(std::uint64_t bytes, int owners) {
    assert(owners > 0);
    const std::uint64_t room = table_.end - table_.begin;
    if (bytes > room) {
        throw Error(Fault::resource,
                    fmt::format("cannot share {} of memory: the ranks have {} of address space for "
                                "it{} ask for less",
                                memory_text(bytes), memory_text(room), limit_text(table_.end)));
    }
    const Lock lock(table_, alarm_);
    if (const int alarm = alarm_.load(std::memory_order_relaxed); alarm != 0) {
        throw Error(Fault::wrong,
                    fmt::format("cannot share memory: rank {} has failed", alarm - 1));
    }
    bytes = round_up(std::max<std::uint64_t>(bytes, 1), page_bytes());
    expect_memory_for(bytes);
    const std::size_t index = first_gap(bytes);
    const Extent extent = {gap_offset(index), bytes, owners};
    std::copy_backward(table_.extents + index, table_.extents + table_.count,
                       table_.extents + table_.count + 1);
    table_.extents[index] = extent;
    ++table_.count;
    table_.handed_out_bytes += bytes;
    return extent.offset;
}

void Extents::disown(std::uint64_t offset) {
    const Lock lock(table_, alarm_);
    if (!lock.held()) return;  // the memory goes with the world
    Extent* const end = table_.extents + table_.count;
    Extent* const extent = std::partition_point(table_.extents, end,
                                                [&](const Extent& e) { return e.offset < offset; });
    assert(extent != end && extent->offset == offset);
    if (--extent->owners > 0) return;
    give_back(*extent);
    table_.handed_out_bytes -= extent->bytes;
    std::copy(extent + 1, end, extent);
    --table_.count;
}

// Memory that was handed out and not touched yet is promised, though the system calls it available.
// To ask the system takes longer than a small allocation may, so little is handed out without.
void Extents::expect_memory_for(std::uint64_t bytes) {
    constexpr std::uint64_t kUnasked = 1 << 20;
    if (bytes <= unasked_) {
        unasked_ -= bytes;
        return;
    }
    const std::uint64_t touched = touched_bytes(descriptor_);
    const std::uint64_t promised =
        table_.handed_out_bytes > touched ? table_.handed_out_bytes - touched : 0;
    const std::uint64_t available = available_memory_bytes();
    const std::uint64_t free = available > promised ? available - promised : 0;
    if (bytes > free) {
        throw Error(Fault::resource,
                    fmt::format("cannot share {} of memory: {} are available; ask for less or "
                                "release windows first",
                                memory_text(bytes), memory_text(free)));
    }
    unasked_ = kUnasked;
}

// The index that a new extent of that size would have.
std::size_t Extents::first_gap(std::uint64_t bytes) const {
    if (table_.count == ExtentTable::kCapacity) {
        throw Error(Fault::resource,
                    fmt::format("cannot share more memory: all {} extents are in use; release "
                                "windows or communicators first",
                                ExtentTable::kCapacity));
    }
    for (std::size_t i = 0; i <= table_.count; ++i) {
        const std::uint64_t gap_end = i < table_.count ? table_.extents[i].offset : table_.end;
        if (gap_end - gap_offset(i) >= bytes) return i;
    }
    throw Error(Fault::resource,
                fmt::format("cannot share {} of memory: no gap between the extents in use is large "
                            "enough; release windows first",
                            memory_text(bytes)));
}

std::uint64_t Extents::gap_offset(std::size_t index) const {
    if (index == 0) return table_.begin;
    const Extent& before = table_.extents[index - 1];
    return before.offset + before.bytes;
}

// The pages go back to the system and read as zero when they are used again.
void Extents::give_back(const Extent& extent) const {
    int failed = 0;
    do {
        failed = fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                           static_cast<off_t>(extent.offset), static_cast<off_t>(extent.bytes));
    } while (failed != 0 && errno == EINTR);
    assert(failed == 0);
}

}  // namespace peal::shm
