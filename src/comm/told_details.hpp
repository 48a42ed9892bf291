// SPDX-License-Identifier: Apache-2.0
// The counts of a rank's calls, and what its kernels are, as others can read it: the stamp of a
// call has but a word that stands for them. Those of the latest few are in the member's shared
// memory.
#pragma once

#include <cstddef>
#include <string>

#include "comm/common_memory.hpp"
#include "comm/shape.hpp"

namespace peal::comm {

class ToldDetails {
public:
    explicit ToldDetails(Member& member) : member_(member) {}

    // Writes down the counts of the shape, if it has any, before it is called.
    void tell(const Shape& shape);
    // Writes down what the kernel of this stamp is, before it is called.
    void tell(const Stamp& kernel, const std::string& text);

private:
    bool is_told(std::uint64_t word) const;
    void put(std::uint64_t word, std::string text);

    Member& member_;
    std::size_t next_ = 0;
};

// "3 1 2", or of pairs a row for each sender, "[0 2] [1 0]"; of a kernel "scale of program 573d89f,
// n=4". Empty where the call has none, or they are no longer known. The stamp must have been read
// from the member's log.
std::string told_details(const Member& member, const Stamp& stamp);

}  // namespace peal::comm
