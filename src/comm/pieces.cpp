// SPDX-License-Identifier: Apache-2.0
#include "comm/pieces.hpp"

#include <algorithm>
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

void check_list(std::string_view what, std::span<const std::int64_t> list, int nranks) {
    if (list.size() != static_cast<std::size_t>(nranks)) {
        reject(fmt::format("{} must have {} entries (one for each of {} ranks), found {}", what,
                           nranks, nranks, list.size()));
    }
    for (const std::int64_t number : list) {
        if (number < 0) reject(fmt::format("{} must not be negative, found {}", what, number));
    }
}

enum class Way : std::uint8_t { sent, received };

// Where each piece begins; one without elements is nowhere, at 0.
Numbers offsets_of(Way way, const Pieces& pieces, std::uint64_t room, int nranks) {
    const std::string_view what = way == Way::sent ? "sent" : "received";
    check_list(fmt::format("counts of what is {}", what), pieces.counts, nranks);
    Numbers offsets(pieces.offsets.begin(), pieces.offsets.end());
    if (offsets.empty()) {
        offsets.resize(pieces.counts.size());
        std::exclusive_scan(pieces.counts.begin(), pieces.counts.end(), offsets.begin(),
                            std::int64_t{0});
    }
    check_list(fmt::format("offsets of what is {}", what), offsets, nranks);
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
    return offsets;
}

void require_apart(const Pieces& received, const Numbers& offsets) {
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

// counts[from * nranks + to], when every sender and its receiver say the same.
Numbers agree(Group& group, const Pieces& sent, const Pieces& received, CallSite at) {
    const auto ranks = static_cast<std::size_t>(group.nranks());
    Numbers mine(sent.counts.begin(), sent.counts.end());
    mine.insert(mine.end(), received.counts.begin(), received.counts.end());
    Numbers all(2 * ranks * ranks);
    group.run(call::allgather(mine, all), at);
    Numbers counts(ranks * ranks);
    for (std::size_t from = 0; from < ranks; ++from) {
        for (std::size_t to = 0; to < ranks; ++to) {
            const std::int64_t given = all[2 * ranks * from + to];
            const std::int64_t expected = all[2 * ranks * to + ranks + from];
            if (given != expected) {
                reject(fmt::format("rank {} sends {} elements to rank {}, which expects {}", from,
                                   given, to, expected));
            }
            counts[from * ranks + to] = given;
        }
    }
    return counts;
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

ReadyCall place_pieces(Group& group, const ConstMemory& input, const Memory& output,
                       const Pieces& sent, const Pieces& received, CallSite at) {
    const int nranks = group.nranks();
    const Numbers sent_at = offsets_of(Way::sent, sent, input.count, nranks);
    const Numbers received_at = offsets_of(Way::received, received, output.count, nranks);
    require_apart(received, received_at);
    const ConstMemory given(input.data, end_of(sent, sent_at), input.element);
    const Memory got(output.data, end_of(received, received_at), output.element);
    group.shape_of(call::all_to_all_v(given, got, Numbers(table_entries(kKind, nranks))));
    const Numbers counts = agree(group, sent, received, at);

    const Call call = call::all_to_all_v(given, got, counts);
    Shape shape = group.shape_of(call);
    if (!sent.offsets.empty() || !received.offsets.empty()) {
        const auto ranks = static_cast<std::size_t>(nranks);
        shape.sent_at = table_with(sent_at, group.rank(), [&](std::size_t from, std::size_t to) {
            return counts[from * ranks + to];
        });
        shape.received_at =
            table_with(received_at, group.rank(),
                       [&](std::size_t to, std::size_t from) { return counts[from * ranks + to]; });
    }
    ReadyCall placed{group.routine_of(shape), {}};
    placed.request = group.request_of(call, at, *placed.routine);
    return placed;
}

}  // namespace peal::comm
