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

// What a rank has for another where all know the pieces of the last call: whether its own are like
// those, and the piece, if those of that call are small enough to go along.
struct Notice {
    static constexpr std::uint64_t kHead = sizeof(std::int64_t);
    static constexpr std::uint64_t kMostRoom = 4 << 10;
    static std::uint64_t bytes(std::uint64_t room) {
        return kHead + (room + kHead - 1) / kHead * kHead;
    }

    static void put(std::byte* begin, bool is_like_last) {
        const std::int64_t word = is_like_last ? 1 : 0;
        std::memcpy(begin, &word, sizeof word);
    }
    static bool get(const std::byte* begin) {
        std::int64_t word = 0;
        std::memcpy(&word, begin, sizeof word);
        return word != 0;
    }
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

void LocalPieces::resize(Telling& telling, std::uint64_t block_bytes) const {
    if (telling.block_bytes == block_bytes) return;
    const std::uint64_t bytes = static_cast<std::uint64_t>(group_.nranks()) * block_bytes;
    telling = {};
    telling.sending.resize(bytes);
    telling.arriving.resize(bytes);
    telling.block_bytes = block_bytes;
}

void LocalPieces::tell(Telling& telling, CallSite at) {
    if (telling.request.routine == nullptr || telling.at != at) {
        const ConstMemory mine(telling.sending.data(), telling.sending.size(), Element::u8);
        const Memory everybodys(telling.arriving.data(), telling.arriving.size(), Element::u8);
        const Call call = call::all_to_all(mine, everybodys);
        Shape shape = group_.shape_of(call);
        shape.tells_pieces = true;
        telling.request = group_.request_of(call, at, group_.routine_of(shape));
        telling.at = at;
    }
    group_.progress().run(telling.request);
}

// ---------------------------------------------------------------------------- like the last ones

// As many bytes as the largest of the pieces that all know.
std::uint64_t LocalPieces::room_for_known() const {
    const auto most = static_cast<std::uint64_t>(*std::max_element(counts_.begin(), counts_.end()));
    return most * bytes_of(*known_);
}

bool LocalPieces::known_go_along() const { return room_for_known() <= Notice::kMostRoom; }

bool LocalPieces::is_known(const Wish& wish) const {
    const auto ranks = static_cast<std::size_t>(group_.nranks());
    const auto self = static_cast<std::size_t>(group_.rank());
    if (side_.given.element != *known_ || side_.got.element != *known_) return false;
    for (std::size_t peer = 0; peer < ranks; ++peer) {
        if (wish.sent.counts[peer] != counts_[self * ranks + peer] ||
            wish.received.counts[peer] != counts_[peer * ranks + self]) {
            return false;
        }
    }
    return true;
}

// Whether those of all ranks are, and all may go along. All find the same.
bool LocalPieces::tell_whether_known(const Wish& wish, bool may_go_along, CallSite at) {
    const std::uint64_t room = known_go_along() ? room_for_known() : 0;
    resize(known_told_, Notice::bytes(room));
    const bool is_like_last = may_go_along && is_known(wish);
    for (int to = 0; to < group_.nranks(); ++to) {
        std::byte* const notice =
            known_told_.sending.data() + static_cast<std::uint64_t>(to) * known_told_.block_bytes;
        Notice::put(notice, is_like_last);
        if (is_like_last && room > 0) put_piece(wish, to, notice + Notice::kHead);
    }
    tell(known_told_, at);
    for (int from = 0; from < group_.nranks(); ++from) {
        if (!Notice::get(known_told_.arriving.data() +
                         static_cast<std::uint64_t>(from) * known_told_.block_bytes)) {
            return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- all counts

void LocalPieces::pack(const Wish& wish, bool may_go_along) {
    const int nranks = group_.nranks();
    resize(counts_told_, Block::bytes(nranks));
    const std::uint64_t element_bytes = bytes_of(side_.given.element);
    const auto about =
        2 * static_cast<std::int64_t>(side_.given.element) + std::int64_t{may_go_along};
    for (int to = 0; to < nranks; ++to) {
        const Block block = block_of(counts_told_.sending, to, nranks);
        block.put_about(about);
        for (int peer = 0; peer < nranks; ++peer) {
            block.put_sent(peer, wish.sent.counts[static_cast<std::size_t>(peer)]);
            block.put_expected(peer, wish.received.counts[static_cast<std::size_t>(peer)]);
        }
        const std::int64_t count = wish.sent.counts[static_cast<std::size_t>(to)];
        if (fits(count, element_bytes)) put_piece(wish, to, block.piece());
    }
}

// Every sender and its receiver must say the same.
void LocalPieces::agree() {
    const int nranks = group_.nranks();
    counts_.clear();
    for (int from = 0; from < nranks; ++from) {
        const Block sender = block_of(counts_told_.arriving, from, nranks);
        for (int to = 0; to < nranks; ++to) {
            const std::int64_t given = sender.sent(to);
            const std::int64_t expected =
                block_of(counts_told_.arriving, to, nranks).expected(from);
            if (given != expected) {
                reject(fmt::format("rank {} sends {} elements to rank {}, which expects {}", from,
                                   given, to, expected));
            }
            counts_.push_back(given);
        }
    }
}

// Whether small pieces have gone along. All ranks find the same, from what everybody has told
// everybody. Where elements differ, the call itself says so.
bool LocalPieces::tell_counts(const Wish& wish, bool may_go_along, CallSite at) {
    const int nranks = group_.nranks();
    const Numbers counts_before = counts_;
    const std::optional<Element> agreed_before = agreed_;
    agreed_.reset();
    known_.reset();
    pack(wish, may_go_along);
    tell(counts_told_, at);
    agree();
    const auto about_of = [&](int rank) {
        return block_of(counts_told_.arriving, rank, nranks).about();
    };
    bool all_may = true;
    for (int rank = 0; rank < nranks; ++rank) {
        if (about_of(rank) / 2 != about_of(0) / 2) return false;
        all_may = all_may && about_of(rank) % 2 == 1;
    }
    agreed_ = static_cast<Element>(about_of(0) / 2);
    if (agreed_ == agreed_before && counts_ == counts_before) known_ = agreed_;
    const auto fit = [&](std::int64_t count) { return fits(count, bytes_of(*agreed_)); };
    return all_may && std::all_of(counts_.begin(), counts_.end(), fit);
}

// ---------------------------------------------------------------------------- the pieces

void LocalPieces::put_piece(const Wish& wish, int to, std::byte* place) const {
    const auto peer = static_cast<std::size_t>(to);
    const std::uint64_t element_bytes = bytes_of(side_.given.element);
    const auto bytes = static_cast<std::uint64_t>(wish.sent.counts[peer]) * element_bytes;
    if (bytes == 0) return;
    const auto* const input = static_cast<const std::byte*>(side_.given.data);
    std::memcpy(place, input + static_cast<std::uint64_t>(side_.sent_at[peer]) * element_bytes,
                bytes);
}

// The pieces are at `begin` of each block.
void LocalPieces::unpack(const Wish& wish, const Telling& told, std::uint64_t begin) const {
    const std::uint64_t element_bytes = bytes_of(side_.got.element);
    auto* const output = static_cast<std::byte*>(side_.got.data);
    for (std::size_t from = 0; from < wish.received.counts.size(); ++from) {
        const auto bytes = static_cast<std::uint64_t>(wish.received.counts[from]) * element_bytes;
        if (bytes == 0) continue;
        std::memcpy(output + static_cast<std::uint64_t>(side_.received_at[from]) * element_bytes,
                    told.arriving.data() + from * told.block_bytes + begin, bytes);
    }
}

Request LocalPieces::request_for(CallSite at) {
    if (last_ && last_->at == at && is_checked(last_->side.given, last_->side.got) &&
        last_->side.is_packed == side_.is_packed && last_->counts == counts_ &&
        last_->side.sent_at == side_.sent_at && last_->side.received_at == side_.received_at) {
        return last_->request;
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
    last_ = Last{side_, counts_, at, group_.request_of(call, at, group_.routine_of(shape))};
    return last_->request;
}

std::optional<Request> LocalPieces::exchange(const Wish& wish, CallSite at) {
    check(wish);
    if (known_ && tell_whether_known(wish, true, at)) {
        if (!known_go_along()) return request_for(at);
        unpack(wish, known_told_, Notice::kHead);
        return std::nullopt;
    }
    if (!tell_counts(wish, true, at)) return request_for(at);
    unpack(wish, counts_told_, Block::bytes(group_.nranks()) - Block::kRoom);
    return std::nullopt;
}

Request LocalPieces::prepare(const Wish& wish, CallSite at) {
    check(wish);
    if (known_) tell_whether_known(wish, false, at);
    tell_counts(wish, false, at);
    return request_for(at);
}

}  // namespace peal::comm
