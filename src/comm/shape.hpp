// SPDX-License-Identifier: Apache-2.0
// What a call is, without its buffers, and the word that stands for it in shared memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peal/collective.hpp"

namespace peal::comm {

// What selects a plan. All but `placement` must be the same on every rank, except that either all
// ranks are on a window or none.
struct Shape {
    CollectiveKind kind = CollectiveKind::barrier;
    Element element = Element::u8;
    ReduceOp op = ReduceOp::sum;
    Placement placement = Placement::separate;
    std::int32_t root = 0;
    std::uint64_t count = 0;                // per rank; all_to_all_v: a hash of its counts
    std::vector<std::int64_t> counts = {};  // all_to_all_v

    bool operator==(const Shape&) const = default;
};

// 64 bits that tell any two calls apart that ranks must not mix up; never 0. A rank leaves its
// stamp beside every ring and in its log, so others can say what it called.
using Stamp = std::uint64_t;
// Stands for a call and all before it.
using Seal = std::uint64_t;
Stamp stamp_of(const Shape& shape);
// Of a kernel of the user's; `identity` is a hash of what must be the same everywhere.
Stamp kernel_stamp(std::uint64_t identity);
// Of the communicator's own affairs.
enum class SyncReason : std::uint8_t { meeting, window, split };
Stamp sync_stamp(SyncReason reason, std::uint64_t detail);

// "allreduce of 1024 f32, sum"
std::string describe(Stamp stamp);

// The largest count that a stamp can hold.
inline constexpr std::uint64_t kMaxCount = (std::uint64_t{1} << 43) - 1;

}  // namespace peal::comm
