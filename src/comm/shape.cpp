// SPDX-License-Identifier: Apache-2.0
#include "comm/shape.hpp"

#include <fmt/format.h>

namespace peal::comm {
namespace {

// From low to high: count, root, element, op, on a window, tag. Tags 1.. are collectives.
constexpr int kCountBits = 43;
constexpr int kRootShift = kCountBits;
constexpr int kElementShift = kRootShift + 10;
constexpr int kOpShift = kElementShift + 4;
constexpr int kWindowShift = kOpShift + 2;
constexpr int kTagShift = kWindowShift + 1;
static_assert(kTagShift + 4 == 64 && kMaxRanks <= 1024 && kElements.size() <= 16);

constexpr std::uint64_t kKernelTag = 14;
constexpr std::uint64_t kAffairTag = 15;
static_assert(kCollectives.size() < kKernelTag);

std::uint64_t bits(Stamp stamp, int shift, int width) {
    return stamp >> shift & ((std::uint64_t{1} << width) - 1);
}

std::string describe_affair(Stamp stamp) {
    const std::uint64_t detail = stamp & kMaxCount;
    switch (static_cast<SyncReason>(bits(stamp, kRootShift, 10))) {
        case SyncReason::meeting: return "a meeting of the communicator's own";
        case SyncReason::window: return fmt::format("window of {} bytes", detail);
        case SyncReason::split: return "split";
    }
    return "nothing that is known";
}

}  // namespace

Stamp stamp_of(const Shape& shape) {
    const auto field = [](auto value, int shift) { return static_cast<Stamp>(value) << shift; };
    return (shape.count & kMaxCount) | field(shape.root, kRootShift) |
           field(shape.element, kElementShift) | field(shape.op, kOpShift) |
           field(shape.placement == Placement::window ? 1 : 0, kWindowShift) |
           field(static_cast<std::uint64_t>(shape.kind) + 1, kTagShift);
}

Stamp kernel_stamp(std::uint64_t identity) {
    return kKernelTag << kTagShift | (identity & kMaxCount);
}

Stamp sync_stamp(SyncReason reason, std::uint64_t detail) {
    return kAffairTag << kTagShift | static_cast<Stamp>(reason) << kRootShift |
           (detail & kMaxCount);
}

std::string describe(Stamp stamp) {
    const std::uint64_t tag = bits(stamp, kTagShift, 4);
    const std::uint64_t count = stamp & kMaxCount;
    if (tag == kAffairTag) return describe_affair(stamp);
    if (tag == kKernelTag) return fmt::format("kernel {:011x}", count);
    const auto kind = static_cast<CollectiveKind>(tag - 1);
    if (!facts_of(kind).has_data()) return std::string(name(kind));
    const auto element = static_cast<Element>(bits(stamp, kElementShift, 4));
    std::string text(name(kind));
    if (facts_of(kind).is_counted()) {
        text += fmt::format(" of {}, counts {:011x}", name(element), count);
    } else {
        text += fmt::format(" of {} {}", count, name(element));
    }
    if (has_reduction(kind)) {
        text += fmt::format(", {}", name(static_cast<ReduceOp>(bits(stamp, kOpShift, 2))));
    }
    if (has_root(kind)) text += fmt::format(", root {}", bits(stamp, kRootShift, 10));
    if (bits(stamp, kWindowShift, 1) != 0) text += ", in a window";
    return text;
}

}  // namespace peal::comm
