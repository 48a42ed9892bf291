// SPDX-License-Identifier: Apache-2.0
// The shared memory of ranks that call each other: a head, and one equal part per rank. The
// collectives of a communicator have one; so have the messages from one rank to another.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/call_log.hpp"
#include "comm/common_memory.hpp"
#include "comm/far_parts.hpp"
#include "comm/far_records.hpp"
#include "comm/profile.hpp"
#include "comm/routine.hpp"
#include "comm/shape.hpp"
#include "comm/turns.hpp"
#include "hosts/job.hpp"
#include "shm/backoff.hpp"
#include "shm/world.hpp"

namespace peal::comm {

using shm::Backoff;
using shm::Clock;
using shm::Waited;

struct alignas(kCacheLineBytes) GroupHead {
    std::atomic<std::uint64_t> parcel = 0;  // Group::hand_out()
    // Set for good when some rank cannot read private memory of another. Settled once all have
    // tried.
    std::atomic<std::uint32_t> out_of_reach = 0;
};

// How much a rank can stage, and for how many turns at a time.
struct StagingRoom {
    std::uint64_t ring_bytes = 0, bulk_bytes = 0;
    std::uint64_t slots = Turns::kSlots;
};
inline constexpr StagingRoom kRoomForCollectives{1 << 20, kMaxStageBytes};
// Between hosts a meeting takes as long as a call, or two, so there is one half as often.
inline constexpr StagingRoom kRoomBetweenHosts{1 << 20, kMaxStageBytes, Turns::kMostSlots};
// The ring of messages is larger than a core's own cache: until a line of it is written again, the
// receiver's cache has let it go. To take a line from that cache costs several times as much. It
// has more slots, since a sender hears nothing from its receiver and must meet it when all are
// taken.
inline constexpr StagingRoom kRoomForMessages{2 << 20, 512 << 10, Turns::kMostSlots};

class GroupMemory {
public:
    GroupMemory(std::byte* base, int nranks, StagingRoom room)
        : base_(base),
          nranks_(static_cast<std::uint64_t>(nranks)),
          room_(room),
          box_offset_(kLogBytes + whole_pages(room.slots * nranks_ * kCacheLineBytes)),
          ring_offset_(box_offset_ + whole_pages(room.slots * box_bytes(nranks))) {}

    static std::uint64_t bytes(int nranks, StagingRoom room) {
        return kHeadBytes + static_cast<std::uint64_t>(nranks) *
                                GroupMemory(nullptr, nranks, room).rank_stride();
    }

    GroupHead& head() const { return *reinterpret_cast<GroupHead*>(base_); }
    CallLog& log(int rank) const { return *reinterpret_cast<CallLog*>(part(rank)); }

    // Rank 0's; those of others follow at rank_stride(). Slots that follow each other in time do
    // not in memory: a prefetcher would fetch the next line while its writer is about to write it.
    std::byte* slot(std::uint64_t slot) const {
        return part(0) + kLogBytes + place(slot) * nranks_ * kCacheLineBytes;
    }
    // Room for a few hundred bytes from each rank; none among many ranks.
    std::byte* box(std::uint64_t slot) const {
        return part(0) + box_offset_ + place(slot) * box_bytes(static_cast<int>(nranks_));
    }
    static std::uint64_t box_bytes(int nranks) {
        return nranks <= 16 ? static_cast<std::uint64_t>(nranks) * 512 : 0;
    }
    std::byte* ring(std::uint64_t offset) const { return part(0) + ring_offset_ + offset; }
    std::byte* bulk() const { return part(0) + ring_offset_ + room_.ring_bytes; }
    StagingRoom room() const { return room_; }
    std::uint64_t rank_stride() const { return ring_offset_ + room_.ring_bytes + room_.bulk_bytes; }
    // Of a rank's part, what every call may use: all before the ring.
    std::uint64_t small_bytes() const { return ring_offset_; }
    std::byte* part(int rank) const {
        return base_ + kHeadBytes + static_cast<std::uint64_t>(rank) * rank_stride();
    }

private:
    static constexpr std::uint64_t kHeadBytes = kPage;
    static constexpr std::uint64_t kLogBytes = kPage;
    static_assert(sizeof(GroupHead) <= kHeadBytes && sizeof(CallLog) <= kLogBytes);

    // The bits of its number in reverse.
    std::uint64_t place(std::uint64_t slot) const {
        static_assert(Turns::kMostSlots == 32);
        static constexpr std::array<std::uint8_t, 32> kPlaces = {
            0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30,
            1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31};
        return kPlaces[slot] * room_.slots / Turns::kMostSlots;
    }

    std::byte* base_;
    std::uint64_t nranks_;
    StagingRoom room_;
    std::uint64_t box_offset_, ring_offset_;  // in a rank's part
};

// Who calls each other, and the memory that they share, as one of them sees it: all ranks of a
// communicator, or two of them, of which rank 0 sends and rank 1 receives.
struct Members {
    // `extent` has communicator_bytes().
    Members(std::shared_ptr<World> the_world, std::vector<int> world_ranks, int own_rank,
            std::uint64_t extent, std::shared_ptr<hosts::Job> the_job = nullptr)
        : world(std::move(the_world)),
          ranks(std::move(world_ranks)),
          rank(own_rank),
          job(std::move(the_job)),
          far(far_among(ranks, job.get())),
          common(world->at(extent), nranks()),
          memory(world->at(extent) + CommonMemory::bytes(nranks()), nranks(),
                 room_of(span_hosts())) {}
    // Of a communicator's members `from` and `to`, by their ranks there.
    Members(const Members& communicator, int from, int to, std::byte* base)
        : world(communicator.world),
          ranks{communicator.in_world(from), communicator.in_world(to)},
          rank(communicator.rank == from ? 0 : 1),
          job(communicator.job),
          far(far_among(ranks, job.get())),
          whole(&communicator),
          pair{from, to},
          common(communicator.common),
          memory(base, 2, kRoomForMessages) {}

    static constexpr StagingRoom room_of(bool spans_hosts) {
        return spans_hosts ? kRoomBetweenHosts : kRoomForCollectives;
    }
    static std::uint64_t communicator_bytes(int nranks, bool spans_hosts) {
        return CommonMemory::bytes(nranks) + GroupMemory::bytes(nranks, room_of(spans_hosts));
    }

    // The host of each member, as in Collective; whether it is another than this one. Both are
    // empty if all are on one host.
    static std::vector<std::int64_t> hosts_of(const std::vector<int>& ranks, const hosts::Job* job);
    static std::vector<bool> far_among(const std::vector<int>& ranks, const hosts::Job* job);
    // The host of each member, as in Collective; empty if all are on one.
    std::vector<std::int64_t> hosts() const;

    int nranks() const { return static_cast<int>(ranks.size()); }
    bool span_hosts() const { return !far.empty(); }
    bool is_far(int member) const { return span_hosts() && far[static_cast<std::size_t>(member)]; }
    int in_world(int member) const { return ranks[static_cast<std::size_t>(member)]; }
    int self_in_world() const { return in_world(rank); }
    bool are_pair() const { return whole != nullptr; }
    // Of two members on this host the other, in the world.
    int partner() const {
        return nranks() == 2 && !span_hosts() ? in_world(1 - rank) : shm::kNoPartner;
    }
    // All members of the communicator.
    const Members& all() const { return whole == nullptr ? *this : *whole; }
    // A member's rank in the communicator.
    int name_of(int member) const {
        return whole == nullptr ? member : pair[static_cast<std::size_t>(member)];
    }
    Member& record_of(int member) const {
        return is_far(member) ? far_records->member(member) : common.member(name_of(member));
    }
    CallLog& log_of(int member) const {
        return is_far(member) ? far_records->log(member) : memory.log(member);
    }
    // Where members are on several hosts, before they call each other. All must come: `exchange`
    // gives a text to all and returns those of all, by member.
    using Exchange = std::function<std::vector<std::string>(std::string own)>;
    void connect_hosts(std::uint64_t extent, const Exchange& exchange);
    // The same of a pair, whose memory is known to both (src/comm/far_pairs.hpp).
    void read_other_hosts();
    Member& self() const { return record_of(rank); }
    // The wait of this rank, for `partner` alone or whomever: with progress where the job has other
    // hosts.
    template <class Ready>
    Waited wait_until(Ready&& ready, Clock::time_point deadline,
                      int partner = shm::kNoPartner) const {
        if (job != nullptr && job->spans_hosts()) return job->wait_until(ready, deadline);
        return shm::wait_until(*world, self_in_world(), ready, deadline, partner);
    }
    // The own part of the memory that every call may use.
    void touch() const {
        if (!are_pair()) common.populate(rank);
        shm::populate(memory.part(rank), memory.small_bytes());
    }

    std::shared_ptr<World> world;
    std::vector<int> ranks;           // the world's, in the order of their ranks here
    int rank;                         // the own one, here
    std::shared_ptr<hosts::Job> job;  // null: all ranks of the world are on this machine
    std::vector<bool> far;
    // Where members are on several hosts: their memory, and what they have written down.
    std::shared_ptr<FarParts> far_parts;
    std::shared_ptr<FarRecords> far_records;
    const Members* whole = nullptr;
    std::array<int, 2> pair{};
    CommonMemory common;
    GroupMemory memory;
};

// Nobody reads private memory of a rank on another host: then `reach` is false.
inline RoutineLimits limits_of(int nranks, StagingRoom room, bool reach = true) {
    return {GroupMemory::box_bytes(nranks), room.ring_bytes / 2, room.bulk_bytes, reach};
}

}  // namespace peal::comm
