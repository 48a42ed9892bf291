// SPDX-License-Identifier: Apache-2.0
#include "comm/shape.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace peal::comm {
namespace {

// Of a call, from low to high: count, root, element, op, tag. Tags 1.. are collectives.
constexpr int kCountBits = 43;
constexpr int kRootShift = kCountBits;
constexpr int kElementShift = kRootShift + 10;
constexpr int kOpShift = kElementShift + 4;
constexpr int kTagShift = 59;
constexpr int kTagBits = 5;
static_assert(kOpShift + 2 <= kTagShift && kTagShift + kTagBits == 64 && kMaxRanks <= 1024 &&
              kElements.size() <= 16);

constexpr std::uint64_t kPiecesTag = 28;
constexpr std::uint64_t kMessageTag = 29;
constexpr std::uint64_t kKernelTag = 30;
constexpr std::uint64_t kSyncTag = 31;
static_assert(kCollectives.size() < kPiecesTag);

std::uint64_t bits(std::uint64_t word, int shift, int width) {
    return word >> shift & ((std::uint64_t{1} << width) - 1);
}

// A word for windows: in its highest four bits how many there are, or that it is a hash; in the
// others the numbers, side by side, the first one lowest.
constexpr int kHowManyShift = 60;
constexpr int kMostWindows = 4;
constexpr std::uint64_t kHashOfWindows = 15;

std::string describe_windows(std::uint64_t word) {
    const std::uint64_t how_many = bits(word, kHowManyShift, 4);
    const std::uint64_t rest = bits(word, 0, kHowManyShift);
    if (how_many == kHashOfWindows) return fmt::format("windows {:015x}", rest);
    const int width = kHowManyShift / static_cast<int>(how_many);
    std::string text = how_many == 1 ? "window " : "windows ";
    for (int i = 0; i < static_cast<int>(how_many); ++i) {
        text += fmt::format("{}{}", i == 0 ? "" : ", ", bits(rest, i * width, width));
    }
    return text;
}

std::string describe_sync(std::uint64_t call) {
    const std::uint64_t detail = call & kMaxCount;
    switch (static_cast<SyncReason>(bits(call, kRootShift, 10))) {
        case SyncReason::meeting: return "a meeting of the communicator's own";
        case SyncReason::window: return fmt::format("window of {} bytes", detail);
        case SyncReason::split: return "split";
    }
    return "nothing that is known";
}

}  // namespace

std::uint64_t windows_word(std::span<const std::uint64_t> numbers) {
    if (numbers.empty()) return 0;
    const auto how_many = static_cast<int>(numbers.size());
    const int width = kHowManyShift / std::min(how_many, kMostWindows);
    std::uint64_t word = 0, hash = 0;
    bool is_exact = how_many <= kMostWindows;
    for (int i = 0; i < how_many; ++i) {
        const std::uint64_t number = numbers[static_cast<std::size_t>(i)];
        hash = (hash ^ number) * 0x9e3779b97f4a7c15;
        is_exact = is_exact && bits(number, 0, width) == number;
        if (is_exact) word |= number << (i * width);
    }
    if (!is_exact) return kHashOfWindows << kHowManyShift | hash >> 4;
    return static_cast<std::uint64_t>(how_many) << kHowManyShift | word;
}

Stamp stamp_of(const Shape& shape) {
    const auto field = [](auto value, int shift) {
        return static_cast<std::uint64_t>(value) << shift;
    };
    const std::uint64_t tag =
        shape.tells_pieces ? kPiecesTag : static_cast<std::uint64_t>(shape.kind) + 1;
    const std::uint64_t call = (shape.count & kMaxCount) | field(shape.root, kRootShift) |
                               field(shape.element, kElementShift) | field(shape.op, kOpShift) |
                               field(tag, kTagShift);
    return {call};
}

Stamp kernel_stamp(std::uint64_t identity, std::uint64_t windows) {
    return {kKernelTag << kTagShift | (identity & kMaxCount), windows};
}

Stamp sync_stamp(SyncReason reason, std::uint64_t detail) {
    return {kSyncTag << kTagShift | static_cast<std::uint64_t>(reason) << kRootShift |
            (detail & kMaxCount)};
}

Stamp message_stamp(Element element, std::uint64_t count) {
    return {kMessageTag << kTagShift | static_cast<std::uint64_t>(element) << kElementShift |
            (count & kMaxCount)};
}

std::string describe_message(const Stamp& stamp, bool sends, int peer) {
    const auto element = static_cast<Element>(bits(stamp.call, kElementShift, 4));
    return fmt::format("{} of {} {} {} rank {}", sends ? "send" : "recv", stamp.call & kMaxCount,
                       name(element), sends ? "to" : "from", peer);
}

std::uint64_t details_word(const Stamp& stamp) {
    const std::uint64_t tag = bits(stamp.call, kTagShift, kTagBits);
    if (tag == kKernelTag) return stamp.call;
    const bool is_collective = tag >= 1 && tag <= kCollectives.size();
    if (!is_collective || !facts_of(static_cast<CollectiveKind>(tag - 1)).is_counted()) return 0;
    return stamp.call & kMaxCount;
}

std::string describe(const Stamp& stamp, std::string_view details) {
    const std::uint64_t tag = bits(stamp.call, kTagShift, kTagBits);
    const std::uint64_t count = stamp.call & kMaxCount;
    if (tag == kSyncTag) return describe_sync(stamp.call);
    if (tag == kPiecesTag) return "all_to_all_v, counts of each rank's own";
    const std::string where =
        stamp.windows == 0 ? "" : fmt::format(" in {}", describe_windows(stamp.windows));
    if (tag == kKernelTag) {
        return details.empty()
                   ? fmt::format("kernel {:011x}{}", count, where)
                   : fmt::format("kernel {}{}", details, where.empty() ? "" : "," + where);
    }
    const auto kind = static_cast<CollectiveKind>(tag - 1);
    if (!facts_of(kind).has_data()) return std::string(name(kind));
    const auto element = static_cast<Element>(bits(stamp.call, kElementShift, 4));
    std::string text(name(kind));
    if (facts_of(kind).is_counted()) {
        text += fmt::format(" of {}, counts {}", name(element),
                            details.empty() ? fmt::format("{:011x}", count) : details);
    } else {
        text += fmt::format(" of {} {}", count, name(element));
    }
    if (has_reduction(kind)) {
        text += fmt::format(", {}", name(static_cast<ReduceOp>(bits(stamp.call, kOpShift, 2))));
    }
    if (has_root(kind)) text += fmt::format(", root {}", bits(stamp.call, kRootShift, 10));
    return where.empty() ? text : text + "," + where;
}

}  // namespace peal::comm
