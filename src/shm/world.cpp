// SPDX-License-Identifier: Apache-2.0
#include "shm/world.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/descriptor.hpp"
#include "peal/error.hpp"
#include "shm/futex.hpp"
#include "shm/machine.hpp"
#include "shm/process_memory.hpp"

namespace peal::shm {
namespace {

using base::Descriptor;

constexpr std::uint64_t kMagic = 0x646c726f'776c6170;  // "palworld"
constexpr std::uint32_t kVersion = 3;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr int kFirstFreeDescriptor = 3;

// Where things lie. The table and the data begin on pages of the largest size in use.
constexpr std::uint64_t kAlignment = 65536;
constexpr std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}
constexpr std::uint64_t kTableOffset = aligned(sizeof(WorldHeader));
constexpr std::uint64_t kDataOffset = kTableOffset + aligned(sizeof(ExtentTable));

ExtentTable& table_in(std::byte* base) {
    return *reinterpret_cast<ExtentTable*>(base + kTableOffset);
}

[[noreturn]] void refuse(const char* what) {
    throw Error(Fault::resource,
                fmt::format("cannot make shared memory: {}: {}", what, std::strerror(errno)));
}

// Sparse and generous: addresses cost nothing, and extents that come and go leave gaps. Where they
// are limited, half of those that are left remain for the rest of the program.
std::uint64_t world_bytes() {
    constexpr std::uint64_t kLeast = kDataOffset + kAlignment;
    rlimit files = {};
    getrlimit(RLIMIT_FSIZE, &files);
    if (files.rlim_cur < kLeast) {
        throw Error(Fault::resource, fmt::format("cannot make shared memory: files are limited to "
                                                 "{} (ulimit -f); raise the limit",
                                                 memory_text(files.rlim_cur)));
    }
    const std::uint64_t addresses = available_address_bytes() / 2;
    if (addresses < kLeast) {
        throw Error(Fault::resource,
                    fmt::format("cannot make shared memory: of the addresses that a process may "
                                "use (ulimit -v) {} are left; raise the limit",
                                memory_text(2 * addresses)));
    }
    const std::uint64_t bytes =
        std::min<std::uint64_t>({2 * physical_memory_bytes(), files.rlim_cur, addresses});
    return bytes / kAlignment * kAlignment;
}

// Not among the standard streams, should one of those be closed: a launcher redirects them.
int new_memory(std::uint64_t bytes) {
    const Descriptor created(memfd_create("peal", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (created.get() < 0) refuse("memfd_create");
    Descriptor memory(fcntl(created.get(), F_DUPFD_CLOEXEC, kFirstFreeDescriptor));
    if (memory.get() < 0) refuse("fcntl");
    if (ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0) refuse("ftruncate");
    if (fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) refuse("sealing");
    return memory.release();
}

std::byte* map_memory(int descriptor, std::uint64_t bytes) {
    void* const base =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    if (base == MAP_FAILED) {
        throw Error(Fault::resource,
                    fmt::format("cannot map {} of shared memory, which takes addresses and no "
                                "memory: {}; raise `ulimit -v`",
                                memory_text(bytes), std::strerror(errno)));
    }
    madvise(base, bytes, MADV_DONTDUMP);
    return static_cast<std::byte*>(base);
}

// What stands at the start of a header; read before anything is mapped.
struct Preamble {
    std::uint64_t magic = 0;
    std::uint32_t version = 0;
    std::int32_t nranks = 0;
    std::uint64_t bytes = 0;
};

Preamble expect_world(int descriptor) {
    struct stat status = {};
    if (fstat(descriptor, &status) != 0) {
        throw Error(Fault::usage, fmt::format("descriptor {} is not open", descriptor));
    }
    Preamble preamble;
    const bool sealed = fcntl(descriptor, F_GET_SEALS) == kSeals;
    if (!sealed || pread(descriptor, &preamble, sizeof preamble, 0) != sizeof preamble ||
        preamble.magic != kMagic) {
        throw Error(Fault::usage, fmt::format("descriptor {} is not a world of ranks", descriptor));
    }
    if (preamble.version != kVersion) {
        throw Error(Fault::usage,
                    fmt::format("descriptor {} is a world of version {}, expected version {}; use "
                                "one release of peal for launcher and program",
                                descriptor, preamble.version, kVersion));
    }
    return preamble;
}

}  // namespace

static_assert(std::atomic<std::int32_t>::is_always_lock_free);
static_assert(std::atomic<RankState>::is_always_lock_free);
static_assert(sizeof(RankRecord) == kCacheLineBytes);

World::World(int descriptor, std::byte* base, std::uint64_t bytes)
    : descriptor_(descriptor),
      base_(base),
      bytes_(bytes),
      extents_(table_in(base), descriptor, header().alarm) {
    if (!accept_foreign_fences()) header().notifiers_fence.store(1, std::memory_order_relaxed);
}

World::~World() {
    munmap(base_, bytes_);
    close(descriptor_);
}

std::shared_ptr<World> World::create(int nranks) {
    if (nranks < 1 || nranks > kMaxRanks) {
        throw Error(Fault::usage, fmt::format("expected 1..{} ranks, found {}", kMaxRanks, nranks));
    }
    const std::uint64_t bytes = world_bytes();
    Descriptor memory(new_memory(bytes));
    std::byte* const base = map_memory(memory.get(), bytes);
    auto* const header = new (base) WorldHeader;
    header->magic = kMagic;
    header->version = kVersion;
    header->nranks = nranks;
    header->bytes = bytes;
    header->cores = available_cores();
    header->ranks_here.store(nranks, std::memory_order_relaxed);
    // The table is made member by member, so that its unused pages stay unused.
    table_in(base).begin = kDataOffset;
    table_in(base).end = bytes;
    return std::shared_ptr<World>(new World(memory.release(), base, bytes));
}

std::shared_ptr<World> World::adopt(int descriptor) {
    const Preamble preamble = expect_world(descriptor);
    std::byte* const base = map_memory(descriptor, preamble.bytes);
    return std::shared_ptr<World>(new World(descriptor, base, preamble.bytes));
}

std::uint64_t World::allocate(std::uint64_t bytes, int owners) {
    return extents_.allocate(bytes, owners);
}

void World::disown(std::uint64_t offset) { extents_.disown(offset); }

void World::enter(int rank) {
    RankRecord& record = header().ranks[rank];
    RankState expected = RankState::absent;
    if (!record.state.compare_exchange_strong(expected, RankState::here,
                                              std::memory_order_acq_rel)) {
        throw Error(Fault::usage,
                    fmt::format("rank {} of {} is taken: process {} was there first", rank,
                                nranks(), record.pid.load(std::memory_order_relaxed)));
    }
    record.pid.store(getpid(), std::memory_order_relaxed);
    const std::atomic<std::uint64_t>& word = word_of_this_process();
    record.own_word.store(word.load(std::memory_order_relaxed), std::memory_order_relaxed);
    record.own_word_at.store(reinterpret_cast<std::uint64_t>(&word), std::memory_order_relaxed);
}

void World::leave(int rank) { end(rank, RankState::here); }

void World::dismiss(int rank) { end(rank, RankState::absent); }

void World::end(int rank, RankState from) {
    std::atomic<RankState>& state = header().ranks[rank].state;
    // Release: who sees that the rank has left sees all that it did.
    if (state.compare_exchange_strong(from, RankState::left, std::memory_order_acq_rel)) {
        ring_everybody();
    }
}

void World::raise_alarm(int rank) {
    header().ranks[rank].state.store(RankState::dead, std::memory_order_release);
    std::int32_t none = 0;
    // Release: who sees the alarm sees the state.
    header().alarm.compare_exchange_strong(none, 1 + rank, std::memory_order_acq_rel);
    ring_everybody();
}

void World::ring_everybody() {
    for (int rank = 0; rank < nranks(); ++rank) wake(rank);
}

void World::wake(int rank) {
    RankRecord& record = header().ranks[rank];
    // Release: who sees the new value sees what it was rung for.
    record.bell.fetch_add(1, std::memory_order_release);
    futex_wake_all(record.bell);
}

}  // namespace peal::shm
