// SPDX-License-Identifier: Apache-2.0
// A communicator's shared memory: an extent with a head, and one equal part per rank.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "comm/profile.hpp"
#include "comm/shape.hpp"
#include "comm/turns.hpp"
#include "shm/world.hpp"

namespace peal::comm {

using namespace shm;  // NOLINT: a communicator lives in shared memory

// What one rank called. Written by that rank: first the stamp, then the turn.
struct alignas(32) LogEntry {
    std::atomic<std::uint64_t> turns = 0;  // 1 + the turn; 0: nothing yet
    std::atomic<std::uint64_t> call = 0, windows = 0;
    std::atomic<std::uint32_t> site = 0;  // Sites: where in the program
};

// What everybody may know of one member. Written by that member alone.
struct alignas(kCacheLineBytes) Member {
    // A member cannot be further ahead of another than the slots allow.
    static constexpr std::uint64_t kLog = 2 * Turns::kSlots;

    std::atomic<bool> has_left = false;
    std::atomic<std::uint32_t> copies = 0;  // from or to a peer's private memory, now
    alignas(kCacheLineBytes) LogEntry log[kLog];
    // From where it calls: src/comm/sites.hpp.
    static constexpr std::uint32_t kSites = 96;
    SharedText<kCacheLineBytes> sites[kSites];
};

// How the members came to disagree; changes once.
struct alignas(kCacheLineBytes) GroupHead {
    enum Failure : std::uint32_t { none, being_told, mismatch, member_left, timeout, lost };
    std::atomic<std::uint32_t> failure = none;
    std::atomic<std::uint64_t> turn = 0;     // of the call that failed
    std::atomic<std::int32_t> culprit = -1;  // who left; who gave up; whose memory
    std::atomic<std::int32_t> reason = 0;    // lost: an errno; timeout: the number of an inquiry
    std::atomic<std::uint64_t> parcel = 0;   // Group::hand_out()
    // Set for good when some member cannot read private memory of another. Settled once all have
    // tried.
    std::atomic<std::uint32_t> out_of_reach = 0;
};

class GroupMemory {
public:
    static constexpr std::uint64_t kRingBytes = 1 << 20;
    static constexpr std::uint64_t kBulkBytes = kMaxStageBytes;

    GroupMemory(World& world, std::uint64_t extent, int nranks)
        : GroupMemory(world.at(extent), nranks) {}

    static std::uint64_t bytes(int nranks) {
        return kHeadBytes +
               static_cast<std::uint64_t>(nranks) * GroupMemory(nullptr, nranks).rank_stride();
    }

    GroupHead& head() const { return *reinterpret_cast<GroupHead*>(base_); }
    Member& member(int rank) const { return *reinterpret_cast<Member*>(part(rank)); }

    // Rank 0's; those of others follow at rank_stride(). Slots that follow each other in time do
    // not in memory: a prefetcher would fetch the next line while its writer is about to write it.
    std::byte* slot(std::uint64_t slot) const {
        return part(0) + kMemberBytes + place(slot) * nranks_ * kCacheLineBytes;
    }
    // Room for a few hundred bytes from each rank; none among many ranks.
    std::byte* box(std::uint64_t slot) const {
        return part(0) + box_offset_ + place(slot) * box_bytes(static_cast<int>(nranks_));
    }
    static std::uint64_t box_bytes(int nranks) {
        return nranks <= 16 ? static_cast<std::uint64_t>(nranks) * 512 : 0;
    }
    std::byte* ring(std::uint64_t offset) const { return part(0) + ring_offset_ + offset; }
    std::byte* bulk() const { return part(0) + ring_offset_ + kRingBytes; }
    std::uint64_t rank_stride() const { return ring_offset_ + kRingBytes + kBulkBytes; }
    // Of a rank's part, what every call may use: all before the ring.
    std::uint64_t small_bytes() const { return ring_offset_; }
    std::byte* part(int rank) const {
        return base_ + kHeadBytes + static_cast<std::uint64_t>(rank) * rank_stride();
    }

private:
    static constexpr std::uint64_t kPage = 4096;
    static constexpr std::uint64_t kHeadBytes = kPage;
    static constexpr std::uint64_t kMemberBytes = 2 * kPage;
    static_assert(sizeof(GroupHead) <= kHeadBytes && sizeof(Member) <= kMemberBytes);

    GroupMemory(std::byte* base, int nranks)
        : base_(base),
          nranks_(static_cast<std::uint64_t>(nranks)),
          box_offset_(kMemberBytes + whole_pages(Turns::kSlots * nranks_ * kCacheLineBytes)),
          ring_offset_(box_offset_ + whole_pages(Turns::kSlots * box_bytes(nranks))) {}

    static std::uint64_t place(std::uint64_t slot) {
        static_assert(Turns::kSlots == 16);
        constexpr std::array<std::uint8_t, 16> kPlaces = {0, 8, 4, 12, 2, 10, 6, 14,
                                                          1, 9, 5, 13, 3, 11, 7, 15};
        return kPlaces[slot];
    }
    static std::uint64_t whole_pages(std::uint64_t bytes) {
        return (bytes + kPage - 1) / kPage * kPage;
    }

    std::byte* base_;
    std::uint64_t nranks_;
    std::uint64_t box_offset_, ring_offset_;  // in a rank's part
};

// Who is in a group, and the memory that they share, as one of them sees it.
struct Members {
    Members(std::shared_ptr<World> the_world, std::vector<int> world_ranks, int own_rank,
            std::uint64_t extent)
        : world(std::move(the_world)),
          ranks(std::move(world_ranks)),
          rank(own_rank),
          memory(*world, extent, nranks()) {}

    int nranks() const { return static_cast<int>(ranks.size()); }
    int in_world(int member) const { return ranks[static_cast<std::size_t>(member)]; }
    int self_in_world() const { return in_world(rank); }
    Member& self() const { return memory.member(rank); }

    std::shared_ptr<World> world;
    std::vector<int> ranks;  // the world's, in the order of their ranks here
    int rank;                // the own one, here
    GroupMemory memory;
};

}  // namespace peal::comm
