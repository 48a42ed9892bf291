// SPDX-License-Identifier: Apache-2.0
// What the counts of a rank's calls are, as others can read it: the stamp of a call has but a word
// that stands for them. Those of the latest few are in the member's shared memory.
#pragma once

#include <cstddef>
#include <string>

#include "comm/common_memory.hpp"
#include "comm/shape.hpp"

namespace peal::comm {

class ToldCounts {
public:
    explicit ToldCounts(Member& member) : member_(member) {}

    // Writes down the counts of the shape, if it has any, before it is called.
    void tell(const Shape& shape);

private:
    Member& member_;
    std::size_t next_ = 0;
};

// "3 1 2", or of pairs a row for each sender, "[0 2] [1 0]"; empty where the call has none, or they
// are no longer known. The stamp must have been read from the member's log.
std::string told_counts(const Member& member, const Stamp& stamp);

}  // namespace peal::comm
