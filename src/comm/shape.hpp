// SPDX-License-Identifier: Apache-2.0
// What a call is, without its buffers, and the word that stands for it in shared memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "peal/collective.hpp"
#include "peal/limits.hpp"

namespace peal::comm {

// What selects a plan. All but `placement` and where pieces are must be the same on every rank,
// except that either all ranks are on a window or none.
struct Shape {
    CollectiveKind kind = CollectiveKind::barrier;
    Element element = Element::u8;
    ReduceOp op = ReduceOp::sum;
    Placement placement = Placement::separate;
    std::int32_t root = 0;
    std::uint64_t count = 0;                // per rank; with a table: a hash of it
    std::vector<std::int64_t> counts = {};  // where a table says how much
    // As in Collective; each rank knows its own, and takes the others' pieces for packed.
    std::vector<std::int64_t> sent_at = {}, received_at = {};
    bool tells_pieces = false;  // of an all_to_all: it is for an all_to_all_v, see LocalPieces

    bool operator==(const Shape&) const = default;
};

// What tells any two calls apart that ranks must not mix up. A rank leaves its stamp in its log, so
// others can say what it called.
struct Stamp {
    std::uint64_t call = 0;     // what is called; never 0
    std::uint64_t windows = 0;  // which windows of the user's it is on: windows_word(); 0: on none

    bool operator==(const Stamp&) const = default;
};
// The hash of a call and all before it. A rank leaves it beside every ring.
using CallHash = std::uint64_t;
constexpr CallHash hash_after(CallHash before, const Stamp& stamp) {
    return (before ^ stamp.call) * 0x9e3779b97f4a7c15 + stamp.windows;
}

// Windows by number. A communicator counts its windows from 1, in the order in which they were
// made; so a number is the same window on every rank. Of more than four there is but a hash.
std::uint64_t windows_word(std::span<const std::uint64_t> numbers);

// On no window.
Stamp stamp_of(const Shape& shape);
// Of a kernel of the user's; `identity` is a hash of what must be the same everywhere.
Stamp kernel_stamp(std::uint64_t identity, std::uint64_t windows);
// Of a meeting of the communicator's own.
enum class SyncReason : std::uint8_t { meeting, window, split };
Stamp sync_stamp(SyncReason reason, std::uint64_t detail);

// "allreduce of 1024 f32, sum". `details` are the counts of the call, or what its kernel is;
// without them it is the word that stands for them.
std::string describe(const Stamp& stamp, std::string_view details = {});
// That word; 0 where a call has none.
std::uint64_t details_word(const Stamp& stamp);

// Of a message, the same on both sides.
Stamp message_stamp(Element element, std::uint64_t count);
// "send of 1024 f32 to rank 3", or "recv of 1024 f32 from rank 3".
std::string describe_message(const Stamp& stamp, bool sends, int peer);

// The largest count that a stamp can hold.
inline constexpr std::uint64_t kMaxCount = (std::uint64_t{1} << 43) - 1;

}  // namespace peal::comm
