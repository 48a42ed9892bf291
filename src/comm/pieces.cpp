// SPDX-License-Identifier: Apache-2.0
#include "comm/pieces.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::comm {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr CollectiveKind kKind = CollectiveKind::all_to_all_v;

[[noreturn]] void reject(const std::string& why) {
    throw Error(Fault::usage, fmt::format("{}: {}", name(kKind), why));
}

void check_list(std::string_view what, std::string_view way, std::span<const std::int64_t> list,
                int nranks) {
    if (list.size() != static_cast<std::size_t>(nranks)) {
        reject(
            fmt::format("{} of what is {} must have {} entries (one for each of {} ranks), "
                        "found {}",
                        what, way, nranks, nranks, list.size()));
    }
    for (const std::int64_t number : list) {
        if (number >= 0) continue;
        reject(fmt::format("{} of what is {} must not be negative, found {}", what, way, number));
    }
}

enum class Way : std::uint8_t { sent, received };

// Where each piece begins; one without elements is nowhere, at 0.
void find_offsets(Way way, const Pieces& pieces, std::uint64_t room, int nranks, Numbers& offsets) {
    const std::string_view what = way == Way::sent ? "sent" : "received";
    check_list("counts", what, pieces.counts, nranks);
    offsets.assign(pieces.offsets.begin(), pieces.offsets.end());
    if (offsets.empty()) {
        offsets.resize(pieces.counts.size());
        std::exclusive_scan(pieces.counts.begin(), pieces.counts.end(), offsets.begin(),
                            std::int64_t{0});
    }
    check_list("offsets", what, offsets, nranks);
    for (std::size_t peer = 0; peer < offsets.size(); ++peer) {
        const auto count = static_cast<std::uint64_t>(pieces.counts[peer]);
        const auto offset = static_cast<std::uint64_t>(offsets[peer]);
        if (count == 0) offsets[peer] = 0;
        if (count > 0 && (offset > room || count > room - offset)) {
            reject(fmt::format(
                "what is {} rank {}, {} elements at {}, is not in the buffer of "
                "{} elements",
                way == Way::sent ? "sent to" : "received from", peer, count, offset, room));
        }
    }
}

void require_apart(const Pieces& received, const Numbers& offsets) {
    if (received.offsets.empty()) return;  // packed
    std::vector<std::size_t> order(offsets.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t peer) { return received.counts[peer] == 0; });
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return offsets[a] < offsets[b]; });
    for (std::size_t i = 1; i < order.size(); ++i) {
        const std::size_t before = order[i - 1];
        if (offsets[before] + received.counts[before] > offsets[order[i]]) {
            reject(fmt::format("what is received from ranks {} and {} overlaps",
                               std::min(before, order[i]), std::max(before, order[i])));
        }
    }
}

std::uint64_t end_of(const Pieces& pieces, const Numbers& offsets) {
    std::int64_t end = 0;
    for (std::size_t peer = 0; peer < offsets.size(); ++peer) {
        end = std::max(end, offsets[peer] + pieces.counts[peer]);
    }
    return static_cast<std::uint64_t>(end);
}

// What a rank has for another: what it is about, all counts of its own (first what it sends to each
// rank, then what it expects of each), and room for a small piece.
class Block {
public:
    static constexpr std::size_t kRoom = 192;
    static std::size_t bytes(int nranks) {
        return (1 + 2 * static_cast<std::size_t>(nranks)) * sizeof(std::int64_t) + kRoom;
    }

    Block(std::byte* begin, int nranks)
        : begin_(begin), piece_(begin + bytes(nranks) - kRoom), nranks_(nranks) {}

    // What must be the same on all ranks if pieces are to go along.
    void put_about(std::int64_t word) const { put(0, word); }
    std::int64_t about() const { return get(0); }
    void put_sent(int to, std::int64_t count) const { put(1 + to, count); }
    std::int64_t sent(int to) const { return get(1 + to); }
    void put_expected(int from, std::int64_t count) const { put(1 + nranks_ + from, count); }
    std::int64_t expected(int from) const { return get(1 + nranks_ + from); }
    std::byte* piece() const { return piece_; }

private:
    void put(int word, std::int64_t value) const {
        std::memcpy(begin_ + sizeof value * static_cast<std::size_t>(word), &value, sizeof value);
    }
    std::int64_t get(int word) const {
        std::int64_t value = 0;
        std::memcpy(&value, begin_ + sizeof value * static_cast<std::size_t>(word), sizeof value);
        return value;
    }

    std::byte* begin_;
    std::byte* piece_;
    int nranks_;
};

Block block_of(const std::vector<std::byte>& blocks, int rank, int nranks) {
    auto* const begin = const_cast<std::byte*>(blocks.data());
    return {begin + static_cast<std::size_t>(rank) * Block::bytes(nranks), nranks};
}

bool fits(std::int64_t count, std::uint64_t element_bytes) {
    return static_cast<std::uint64_t>(count) <= Block::kRoom / element_bytes;
}

// `own` as the row of `rank` in a table of all ranks, where the others' pieces are packed; count_of
// tells how long the piece is that row `r` has for `peer`.
template <class CountOf>
Numbers table_with(const Numbers& own, int rank, CountOf count_of) {
    const std::size_t ranks = own.size();
    Numbers table(ranks * ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
        std::int64_t packed = 0;
        for (std::size_t peer = 0; peer < ranks; ++peer) {
            table[r * ranks + peer] = r == static_cast<std::size_t>(rank) ? own[peer] : packed;
            packed += count_of(r, peer);
        }
    }
    return table;
}

}  // namespace

bool LocalPieces::is_checked(const ConstMemory& given, const Memory& got) const {
    return given.data == side_.given.data && given.count == side_.given.count &&
           given.element == side_.given.element && got.data == side_.got.data &&
           got.count == side_.got.count && got.element == side_.got.element;
}

void LocalPieces::check(const Wish& wish) {
    const int nranks = group_.nranks();
    find_offsets(Way::sent, wish.sent, wish.input.count, nranks, side_.sent_at);
    find_offsets(Way::received, wish.received, wish.output.count, nranks, side_.received_at);
    require_apart(wish.received, side_.received_at);
    side_.is_packed = wish.sent.offsets.empty() && wish.received.offsets.empty();
    const ConstMemory given(wish.input.data, end_of(wish.sent, side_.sent_at), wish.input.element);
    const Memory got(wish.output.data, end_of(wish.received, side_.received_at),
                     wish.output.element);
    if (is_checked(given, got)) return;
    group_.shape_of(call::all_to_all_v(given, got, Numbers(table_entries(kKind, nranks))));
    require_fit(fmt::format("{}: input", name(kKind)), given, given.count);
    require_fit(fmt::format("{}: output", name(kKind)), got, got.count);
    side_.given = given;
    side_.got = got;
}

void LocalPieces::pack(const Wish& wish, bool may_go_along) {
    const int nranks = group_.nranks();
    sending_.resize(static_cast<std::size_t>(nranks) * Block::bytes(nranks));
    arriving_.resize(sending_.size());
    const std::uint64_t element_bytes = bytes_of(side_.given.element);
    const auto* const input = static_cast<const std::byte*>(side_.given.data);
    const auto about =
        2 * static_cast<std::int64_t>(side_.given.element) + std::int64_t{may_go_along};
    for (int to = 0; to < nranks; ++to) {
        const Block block = block_of(sending_, to, nranks);
        block.put_about(about);
        for (int peer = 0; peer < nranks; ++peer) {
            block.put_sent(peer, wish.sent.counts[static_cast<std::size_t>(peer)]);
            block.put_expected(peer, wish.received.counts[static_cast<std::size_t>(peer)]);
        }
        const std::int64_t count = wish.sent.counts[static_cast<std::size_t>(to)];
        if (count == 0 || !fits(count, element_bytes)) continue;
        const auto at = static_cast<std::uint64_t>(side_.sent_at[static_cast<std::size_t>(to)]);
        std::memcpy(block.piece(), input + at * element_bytes,
                    static_cast<std::uint64_t>(count) * element_bytes);
    }
}

void LocalPieces::tell(CallSite at) {
    const ConstMemory mine(sending_.data(), sending_.size(), Element::u8);
    const Memory everybodys(arriving_.data(), arriving_.size(), Element::u8);
    const Call call = call::all_to_all(mine, everybodys);
    if (!telling_) {
        Shape shape = group_.shape_of(call);
        shape.tells_pieces = true;
        telling_ = group_.routine_of(shape);
    }
    group_.progress().run(group_.request_of(call, at, *telling_));
}

// Every sender and its receiver must say the same.
void LocalPieces::agree() {
    const int nranks = group_.nranks();
    counts_.clear();
    for (int from = 0; from < nranks; ++from) {
        const Block sender = block_of(arriving_, from, nranks);
        for (int to = 0; to < nranks; ++to) {
            const std::int64_t given = sender.sent(to);
            const std::int64_t expected = block_of(arriving_, to, nranks).expected(from);
            if (given != expected) {
                reject(fmt::format("rank {} sends {} elements to rank {}, which expects {}", from,
                                   given, to, expected));
            }
            counts_.push_back(given);
        }
    }
}

// All ranks find the same, from what everybody has told everybody. Where elements differ, the call
// itself says so.
bool LocalPieces::went_along() const {
    const int nranks = group_.nranks();
    const std::int64_t about = block_of(arriving_, 0, nranks).about();
    for (int rank = 0; rank < nranks; ++rank) {
        if (block_of(arriving_, rank, nranks).about() != about) return false;
    }
    const std::uint64_t element_bytes = bytes_of(static_cast<Element>(about / 2));
    const auto fit = [&](std::int64_t count) { return fits(count, element_bytes); };
    return about % 2 == 1 && std::all_of(counts_.begin(), counts_.end(), fit);
}

void LocalPieces::unpack(const Wish& wish) const {
    const int nranks = group_.nranks();
    const std::uint64_t element_bytes = bytes_of(side_.got.element);
    auto* const output = static_cast<std::byte*>(side_.got.data);
    for (int from = 0; from < nranks; ++from) {
        const std::int64_t count = wish.received.counts[static_cast<std::size_t>(from)];
        if (count == 0) continue;
        const auto at =
            static_cast<std::uint64_t>(side_.received_at[static_cast<std::size_t>(from)]);
        std::memcpy(output + at * element_bytes, block_of(arriving_, from, nranks).piece(),
                    static_cast<std::uint64_t>(count) * element_bytes);
    }
}

ReadyCall LocalPieces::call_for(CallSite at) {
    if (last_ && last_->at == at && is_checked(last_->side.given, last_->side.got) &&
        last_->side.is_packed == side_.is_packed && last_->counts == counts_ &&
        last_->side.sent_at == side_.sent_at && last_->side.received_at == side_.received_at) {
        return last_->call;
    }
    const Call call = call::all_to_all_v(side_.given, side_.got, counts_);
    Shape shape = group_.shape_of(call);
    if (!side_.is_packed) {
        const auto ranks = static_cast<std::size_t>(group_.nranks());
        shape.sent_at = table_with(
            side_.sent_at, group_.rank(),
            [&](std::size_t from, std::size_t to) { return counts_[from * ranks + to]; });
        shape.received_at = table_with(
            side_.received_at, group_.rank(),
            [&](std::size_t to, std::size_t from) { return counts_[from * ranks + to]; });
    }
    ReadyCall ready{group_.routine_of(shape), {}};
    ready.request = group_.request_of(call, at, *ready.routine);
    last_ = Last{side_, counts_, at, ready};
    return ready;
}

std::optional<ReadyCall> LocalPieces::exchange(const Wish& wish, CallSite at) {
    check(wish);
    pack(wish, true);
    tell(at);
    agree();
    if (!went_along()) return call_for(at);
    unpack(wish);
    return std::nullopt;
}

ReadyCall LocalPieces::prepare(const Wish& wish, CallSite at) {
    check(wish);
    pack(wish, false);
    tell(at);
    agree();
    return call_for(at);
}

}  // namespace peal::comm
