// SPDX-License-Identifier: Apache-2.0
// Memory for messages between two members on different hosts, one piece for each direction. It is
// made when one of the two first needs it: that one writes a letter, and the other, whatever it is
// waiting for, makes its part and answers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "comm/far_parts.hpp"
#include "comm/group_memory.hpp"

namespace peal::comm {

class FarPairs {
public:
    explicit FarPairs(const Members& members) : members_(members) {}

    // From member to member, of which one is this rank and the other on another host. Asks for it;
    // Error(resource) when there is no memory for it.
    void ask(int from, int to);
    // Where it is, for channel_bytes(), once the other has answered; 0: it has not.
    std::uint64_t extent(int from, int to) const;
    // A letter of another member.
    static bool is_about_pairs(std::string_view letter);
    void read(int member, std::string_view letter);

    // Both parts of it.
    static std::uint64_t channel_bytes() { return GroupMemory::bytes(2, kRoomForMessages); }

    // This rank has no more use for any.
    void retire();

private:
    using Way = std::pair<int, int>;  // from, to
    struct Memory {
        std::uint64_t extent = 0;
        std::shared_ptr<FarParts> parts;
        bool is_answered = false;
    };
    Memory& made(Way way);
    void post(int member, Way way, const std::string& keys) const;

    const Members& members_;
    // Letters are read by any thread: what follows is touched while they are held only.
    std::map<Way, Memory> pairs_;
    std::string refused_;  // what the other said, if it has no memory
    bool is_retired_ = false;
};

}  // namespace peal::comm
