// SPDX-License-Identifier: Apache-2.0
// What the ranks of a communicator share whatever they call: who has left, what went wrong, from
// where they call, and where the memory of each pair of them is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "peal/limits.hpp"
#include "shm/shared_text.hpp"
#include "shm/world.hpp"

namespace peal::comm {

using shm::RankRecord;
using shm::RankState;
using shm::SharedText;
using shm::World;

inline constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t whole_pages(std::uint64_t bytes) {
    return (bytes + kPage - 1) / kPage * kPage;
}

// The counts of a call as text, or what its kernel is, and the word that stands for them in its
// stamp. They may be written over while they are read: then the word has changed.
struct DetailsText {
    std::atomic<std::uint64_t> word = 0;  // 0: none yet
    std::atomic<char> text[240] = {};     // to its end, or to a 0
};

// What everybody may know of one member. Written by that member alone.
struct alignas(kCacheLineBytes) Member {
    std::atomic<bool> has_left = false;
    // Odd while it stands still: it waits, and rings nobody before it has made this even again.
    std::atomic<std::uint64_t> standstills = 0;
    // The last inquiry at which it stood still and could not go on.
    std::atomic<std::uint32_t> confirmed = 0;
    // Where members are on several hosts. Of the first member: its last question. Of each: the last
    // one that it has answered, and behind it the low half of `standstills` at that time; and where
    // it stood.
    std::atomic<std::uint32_t> question = 0;
    std::atomic<std::uint64_t> answer = 0;
    SharedText<1536> standing;
    // From where it calls: src/comm/sites.hpp.
    static constexpr std::uint32_t kSites = 96;
    SharedText<kCacheLineBytes> sites[kSites];
    // Of the latest kernels and calls with counts that it made ready: src/comm/told_details.hpp.
    static constexpr std::size_t kDetails = 7;
    DetailsText details[kDetails];
};

// How the communicator came to be broken; changes once. Whoever notices first tells it for all.
struct alignas(kCacheLineBytes) CommonHead {
    enum : std::uint32_t { none, being_told, told };
    std::atomic<std::uint32_t> failure = none;
    std::atomic<std::uint32_t> fault = 0;  // of the error that everybody gets
    SharedText<65536> story;               // and its text
};

class CommonMemory {
public:
    CommonMemory(std::byte* base, int nranks)
        : base_(base), nranks_(static_cast<std::uint64_t>(nranks)) {}

    static std::uint64_t bytes(int nranks) {
        const CommonMemory of(nullptr, nranks);
        return kHeadBytes + of.nranks_ * of.stride();
    }

    CommonHead& head() const { return *reinterpret_cast<CommonHead*>(base_); }
    Member& member(int rank) const { return *reinterpret_cast<Member*>(part(rank)); }
    // Where the memory of two ranks is (src/comm/channels.hpp).
    std::atomic<std::uint64_t>& pair(int low, int high) const {
        auto* const row = reinterpret_cast<std::atomic<std::uint64_t>*>(part(low) + kMemberBytes);
        return row[high];
    }
    void populate(int rank) const { shm::populate(part(rank), stride()); }

    // Of a rank's part: those of others follow each other.
    std::uint64_t stride() const {
        return kMemberBytes + whole_pages(nranks_ * sizeof(std::atomic<std::uint64_t>));
    }
    std::byte* part(int rank) const {
        return base_ + kHeadBytes + static_cast<std::uint64_t>(rank) * stride();
    }

private:
    static constexpr std::uint64_t kHeadBytes = whole_pages(sizeof(CommonHead));
    static constexpr std::uint64_t kMemberBytes = whole_pages(sizeof(Member));

    std::byte* base_;
    std::uint64_t nranks_;
};

}  // namespace peal::comm
