// SPDX-License-Identifier: Apache-2.0
// Memory that every member of a group has a part of, as members on other hosts reach it: each
// offers its own part, all tell each other the keys, and each knows then what its mirrors of the
// others' parts stand for.
//
// Whoever has no more use for it says so to the others, behind all that it has put there. The
// memory is given back when all have said so: nobody writes into what may be another's by then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hosts/job.hpp"

namespace peal::comm {

struct Members;

// Parts of equal size, one per member.
struct PartLayout {
    std::byte* base = nullptr;  // of member 0's
    std::uint64_t stride = 0;
    std::uint64_t bytes = 0;

    std::byte* of(std::size_t member) const { return base + member * stride; }
};

class FarParts : public std::enable_shared_from_this<FarParts> {
public:
    // `extent` is where all of them are in the world's memory: this rank's share of it.
    FarParts(const Members& members, std::uint64_t extent, std::vector<PartLayout> layouts);
    ~FarParts();
    FarParts(const FarParts&) = delete;
    FarParts& operator=(const FarParts&) = delete;

    // What the others need to know of this member's parts.
    std::string keys() const;
    // What all members said, by member. Throws Error(wrong) if one said nonsense.
    void connect(const std::vector<std::string>& keys);

    // Letters to a member on another host, and from there. The reader may be called by any thread.
    using Reader = std::function<void(int member, std::string_view text)>;
    // Those that come before wait for it.
    void read_letters(Reader reader);
    void post(int member, std::string_view text) const;

    // This rank has no more use for the memory. The share of it is given back here, now or later.
    void retire();

private:
    void read(int from, std::string_view text);

    hosts::Job& job_;  // keeps this, or is kept by who does
    const std::vector<int> ranks_;
    const std::vector<bool> far_;
    const std::uint64_t extent_;
    const std::vector<PartLayout> layouts_;
    std::vector<std::unique_ptr<hosts::Offer>> offers_;  // by layout
    std::vector<std::uint64_t> subjects_;                // by member: what it knows this memory by
    std::vector<bool> uses_;  // by member on another host: has not retired
    Reader reader_;
    std::vector<std::pair<int, std::string>> unread_;
    bool is_retired_ = false;
};

}  // namespace peal::comm
