// SPDX-License-Identifier: Apache-2.0
#include "comm/group.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "comm/settings.hpp"

namespace peal::comm {

Group::Group(std::shared_ptr<World> world, std::vector<int> members, int rank, std::uint64_t extent,
             std::shared_ptr<const Table> table, std::shared_ptr<hosts::Job> job,
             const Members::Exchange& exchange)
    : extent_(extent),
      members_(std::move(world), std::move(members), rank, extent, std::move(job)),
      table_(std::move(table)),
      routines_(table_, rank, nranks(),
                limits_of(nranks(), members_.memory.room(), !members_.span_hosts()),
                members_.hosts()),
      sites_(members_.self()),
      told_details_(members_.self()),
      progress_(members_, routines_, under_way_) {
    under_way_.timeout = default_timeout();
    members_.touch();
    if (!members_.span_hosts()) return;
    members_.connect_hosts(extent, exchange);
    far_pairs_ = std::make_unique<FarPairs>(members_);
    members_.far_parts->read_letters(
        [this](int member, std::string_view text) { hear(member, text); });
}

Group::~Group() {
    progress_.leave();
    if (members_.far_parts != nullptr) {
        far_pairs_->retire();
        members_.far_parts->retire();
    } else {
        world()->disown(extent_);
    }
}

void Group::hear(int member, std::string_view letter) {
    if (is_failure(letter)) hear_failure(members_, letter);
    if (FarPairs::is_about_pairs(letter)) far_pairs_->read(member, letter);
}

void Group::remember(const Call& call, CallSite at, Remembered& last) {
    last.request = request_of(call, at);
    last.call = call;
    last.at = at;
}

// The first of each host finds memory there.
std::uint64_t Group::allocate_window(std::uint64_t bytes, CallSite at) {
    int first = 0, here = 0;
    for (int member = nranks(); member-- > 0;) {
        if (members_.is_far(member)) continue;
        first = member;
        ++here;
    }
    std::string why;
    std::uint64_t extent = 0;  // none
    if (rank() == first) {
        try {
            extent = world()->allocate(bytes, here);
        } catch (const Error& error) {
            why = error.what();
        }
    }
    extent = hand_out(rank() == first ? &extent : nullptr, at);
    int lacks = extent == 0 ? first : -1;
    if (members_.span_hosts()) {
        const std::vector<std::string> found = exchange(extent != 0 ? "y" : "", at);
        const auto none = std::find(found.begin(), found.end(), "");
        if (none != found.end()) lacks = static_cast<int>(none - found.begin());
    }
    if (lacks < 0) return extent;
    if (extent != 0) world()->disown(extent);
    if (why.empty()) why = fmt::format("window: rank {} found no memory for it", lacks);
    throw Error(Fault::resource, why);
}

// The parcel is not overwritten too early: before it is handed out again, a meeting has told that
// everybody has come, and so has read this one.
std::uint64_t Group::hand_out(const std::uint64_t* number, CallSite at) {
    std::atomic<std::uint64_t>& parcel = members_.memory.head().parcel;
    if (number != nullptr) parcel.store(*number, std::memory_order_relaxed);  // released by meeting
    meet(SyncReason::meeting, 0, at);
    return parcel.load(std::memory_order_relaxed);
}

// First how long each is, then all of them, each with room for the longest.
std::vector<std::string> Group::exchange(const std::string& own, CallSite at) {
    const auto ranks = static_cast<std::size_t>(nranks());
    const std::int64_t length = std::ssize(own);
    std::vector<std::int64_t> lengths(ranks);
    run(call::allgather(ConstMemory{&length, 1, Element::i64}, lengths), at);
    const auto longest =
        static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
    std::vector<std::uint8_t> padded(longest), all(longest * ranks);
    std::copy(own.begin(), own.end(), padded.begin());
    run(call::allgather(padded, all), at);
    std::vector<std::string> texts;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto* const text = reinterpret_cast<const char*>(all.data()) + rank * longest;
        texts.emplace_back(text, static_cast<std::size_t>(lengths[rank]));
    }
    return texts;
}

}  // namespace peal::comm
