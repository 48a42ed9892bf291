// SPDX-License-Identifier: Apache-2.0
// The world: ranks that share one piece of memory, and somebody who looks after them.
//
// The memory is a memfd: it has no name, so it is gone when its last process is gone, whatever
// happens. Everybody maps the whole of it once, sparse; extents of it are handed out as
// communicators and windows are made. Addresses differ between processes; offsets do not.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "peal/limits.hpp"
#include "shm/extents.hpp"
#include "shm/shared_text.hpp"

namespace peal::shm {

enum class RankState : std::uint32_t {
    absent,  // has not come yet
    here,
    left,  // went as it should
    dead,  // its process or thread ended in any other way
};

// What everybody may know of one rank. Written by that rank alone unless said otherwise.
struct alignas(kCacheLineBytes) RankRecord {
    std::atomic<RankState> state = RankState::absent;  // `dead` is written by the supervisor
    std::atomic<std::int32_t> pid = 0;
    // Sleeping. Who is about to sleep sets `sleeping` and waits on the futex `bell`; whoever has
    // something for the rank takes `sleeping` back to 0, adds 1 to `bell` and wakes it. A rank may
    // have several sleepers, one in each of its threads. (src/shm/backoff.hpp)
    std::atomic<std::uint32_t> sleeping = 0;
    std::atomic<std::uint32_t> bell = 0;
    // A word that its process alone has, and where it is in its private memory.
    std::atomic<std::uint64_t> own_word = 0;
    std::atomic<std::uint64_t> own_word_at = 0;
    // The core on which it waited last. (src/shm/spread.hpp)
    std::atomic<std::int32_t> core = -1;
    // The last inquiry that one of its threads has begun to answer, and has answered.
    // (src/shm/inquiry.hpp)
    std::atomic<std::uint32_t> answers = 0, answered = 0;
    std::atomic<bool> has_told = false;  // why it ends (src/shm/story.hpp)
    // It has let a Ctrl-C of the terminal's pass. (src/shm/launcher.hpp)
    std::atomic<bool> held_back = false;
};

// The head of the shared memory.
struct WorldHeader {
    std::uint64_t magic = 0;
    std::uint32_t version = 0;
    std::int32_t nranks = 0;
    std::uint64_t bytes = 0;
    // Where the ranks meet first: 0 until one of them has published an extent here.
    std::atomic<std::uint64_t> meeting_point = 0;
    std::int32_t cores = 0;  // that the ranks share
    // How many of the ranks are on this machine.
    std::atomic<std::int32_t> ranks_here = 0;
    // Set for good when some process cannot take part in fences from elsewhere
    // (src/shm/futex.hpp).
    std::atomic<std::uint32_t> notifiers_fence = 0;
    // 0 while all is well; changes once, to 1 + the first rank that died or left a call in error.
    // Whoever waits looks here, so it has a line of its own.
    alignas(kCacheLineBytes) std::atomic<std::int32_t> alarm = 0;
    RankRecord ranks[kMaxRanks];
    // The number of the last inquiry, and what the ranks answered. (src/shm/inquiry.hpp)
    std::atomic<std::uint32_t> inquiry = 0;
    SharedText<1024> answers[kMaxRanks];
    // The error that ended the job. (src/shm/story.hpp)
    std::atomic<std::int32_t> teller = 0;  // 1 + the rank that tells it; 0: nobody
    std::atomic<bool> is_told = false;
    SharedText<65536> story;
    // Followed by the table of extents (src/shm/extents.hpp).
};

// The mapping. Closing the last copy in a process unmaps it.
class World {
public:
    // A new world of n ranks. Throws Error(usage) unless 1 <= n <= kMaxRanks, Error(resource) when
    // the machine says no.
    static std::shared_ptr<World> create(int nranks);
    // The world behind an inherited descriptor, which is taken over. Error(usage) if it is not one.
    static std::shared_ptr<World> adopt(int descriptor);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    int nranks() const { return header().nranks; }
    int descriptor() const { return descriptor_; }
    WorldHeader& header() const { return *reinterpret_cast<WorldHeader*>(base_); }
    std::byte* at(std::uint64_t offset) const { return base_ + offset; }

    // An extent of zeroed memory, aligned to a page; every rank may use it by its offset. It starts
    // with `owners` owners; the last disown() gives the memory back to the system. Throws
    // Error(resource) when it does not fit in the memory that the machine has available: nobody is
    // killed for touching it later. Throws Error(wrong) once the alarm is on. Safe to call from
    // every rank at once.
    std::uint64_t allocate(std::uint64_t bytes, int owners);
    void disown(std::uint64_t offset);

    // A rank comes, from the process that calls. Error(usage) if it was taken before.
    void enter(int rank);
    // A rank goes as it should; rings everybody, since somebody may wait for it. Idempotent.
    void leave(int rank);

    // A rank that did not come and never will. Like leave() for the rank's supervisor.
    void dismiss(int rank);

    // Marks a rank as dead (or as having failed), rings everybody. Idempotent.
    void raise_alarm(int rank);
    // The rank that failed first; -1 while all is well.
    int failed_rank() const { return header().alarm.load(std::memory_order_acquire) - 1; }

    // Wakes a rank if it sleeps. Always a system call: notifiers use ring_if_asleep()
    // (src/shm/backoff.hpp).
    void wake(int rank);

private:
    World(int descriptor, std::byte* base, std::uint64_t bytes);
    void end(int rank, RankState from);
    void ring_everybody();

    int descriptor_ = -1;
    std::byte* base_ = nullptr;
    std::uint64_t bytes_ = 0;
    Extents extents_;
};

// Each rank touches its own part of new memory first: the pages are then near it, and no call pays
// for them.
inline void populate([[maybe_unused]] std::byte* begin, [[maybe_unused]] std::uint64_t bytes) {
#ifdef MADV_POPULATE_WRITE
    madvise(begin, bytes, MADV_POPULATE_WRITE);  // if it fails, the first touch does it
#endif
}

}  // namespace peal::shm
