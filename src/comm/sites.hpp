// SPDX-License-Identifier: Apache-2.0
// Where in the program a rank makes its calls, as others can read it: their file names mean nothing
// to them, so each place is written down once, in the member's shared memory, and has a number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "comm/group_memory.hpp"
#include "peal/communicator_calls.hpp"

namespace peal::comm {

class Sites {
public:
    explicit Sites(Member& member) : member_(member) {}

    // 0 if the place is not known, or there have been too many to be written down.
    std::uint32_t number_of(CallSite at);

private:
    struct Known {
        CallSite at;
        std::uint32_t number = 0;
    };

    Member& member_;
    std::uint32_t count_ = 0;
    std::array<Known, std::size_t{4} * Member::kSites> known_;  // by a hash, or behind it
};

// ", at train.cpp:31", or nothing. The number must have been read from the member's log.
std::string site_text(const Member& member, std::uint32_t number);

}  // namespace peal::comm
