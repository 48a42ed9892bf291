// SPDX-License-Identifier: Apache-2.0
#include "comm/channels.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "comm/far_pairs.hpp"
#include "peal/error.hpp"

namespace peal::comm {
namespace {

// One direction.
std::uint64_t channel_bytes() { return FarPairs::channel_bytes(); }

Routines routines_of(const Group& group, int rank) {
    return {group.table(), rank, 2, limits_of(2, kRoomForMessages)};
}

Routines far_routines_of(const Group& group, int rank) {
    return {group.table(), rank, 2, limits_of(2, kRoomForMessages, false), {0, 1}};
}

// The word of a pair: where its memory is, whole pages, and who has left.
constexpr std::uint64_t kLowHasLeft = 1, kHighHasLeft = 2;
constexpr std::uint64_t kExtent = ~std::uint64_t{3};

}  // namespace

// ---------------------------------------------------------------------------- one

void Channel::remember(const ConstMemory& memory, CallSite at) {
    for (std::size_t i = 0; i < kRemembered; ++i) {
        if (!remembered_[i].is_for(memory, at)) continue;
        latest_ = i;
        return;
    }
    Request request = request_of(memory, at);
    latest_ = (latest_ + 1) % kRemembered;
    remembered_[latest_] = {memory, at, std::move(request)};
}

// A message without elements goes its way as a byte: a barrier would make the sender wait.
Request Channel::request_of(const ConstMemory& memory, CallSite at) {
    const std::string what = fmt::format("{} rank {}", members_.rank == 0 ? "send to" : "recv from",
                                         members_.name_of(1 - members_.rank));
    if (memory.count > kMaxCount) {
        throw Error(Fault::usage, fmt::format("{}: {} elements are too many", what, memory.count));
    }
    require_fit(what, memory, memory.count);
    const bool is_empty = memory.count == 0;
    Request request;
    request.routine = routines_.find({.kind = CollectiveKind::broadcast,
                                      .element = is_empty ? Element::u8 : memory.element,
                                      .placement = Placement::in_place,
                                      .count = is_empty ? 1 : memory.count});
    request.stamp = message_stamp(memory.element, memory.count);
    request.site = group_.site(at);
    // The sender's is only read.
    request.arguments[0] =
        is_empty ? &nothing_ : const_cast<std::byte*>(static_cast<const std::byte*>(memory.data));
    return request;
}

// ---------------------------------------------------------------------------- all

Channels::Channels(Group& group)
    : group_(group),
      as_sender_(routines_of(group, 0)),
      as_receiver_(routines_of(group, 1)),
      as_far_sender_(far_routines_of(group, 0)),
      as_far_receiver_(far_routines_of(group, 1)),
      sending_(static_cast<std::size_t>(group.nranks())),
      receiving_(static_cast<std::size_t>(group.nranks())) {}

// From here on this rank makes no memory for a pair, and has its share of none.
Channels::~Channels() {
    for (int peer = 0; peer < group_.nranks(); ++peer) {
        if (peer == group_.rank() || group_.members().is_far(peer)) continue;
        const std::uint64_t self = group_.rank() < peer ? kLowHasLeft : kHighHasLeft;
        const std::uint64_t before = place_of(peer).fetch_or(self, std::memory_order_acq_rel);
        if (const std::uint64_t extent = before & kExtent; extent != 0) {
            group_.world()->disown(extent);
        }
    }
}

std::atomic<std::uint64_t>& Channels::place_of(int peer) const {
    const int self = group_.rank();
    return group_.members().common.pair(std::min(self, peer), std::max(self, peer));
}

// Who cannot have it because a rank died is told of that.
std::uint64_t Channels::allocate() const {
    try {
        return group_.world()->allocate(2 * channel_bytes(), 2);
    } catch (const Error&) {
        if (group_.world()->failed_rank() < 0) throw;
    }
    group_.progress().diagnosis().fail_by_alarm();
}

// Both ranks may make it at once: the first is taken. Acquire and release: who finds memory here
// finds it zeroed.
std::uint64_t Channels::extent_with(int peer) const {
    std::atomic<std::uint64_t>& place = place_of(peer);
    std::uint64_t found = place.load(std::memory_order_acquire);
    if ((found & kExtent) != 0) return found & kExtent;
    World& world = *group_.world();
    const std::uint64_t made = allocate();
    while ((found & kExtent) == 0) {
        if (!place.compare_exchange_weak(found, made | found, std::memory_order_acq_rel)) continue;
        if (found != 0) world.disown(made);  // the share of the other, who has left
        return made;
    }
    for (int share = 0; share < 2; ++share) world.disown(made);
    return found & kExtent;
}

// Returns when the other has made its part of the memory: it does so in its next wait.
std::uint64_t Channels::extent_to_other_host(int from, int to) {
    FarPairs& pairs = *group_.far_pairs();
    const Diagnosis& diagnosis = group_.progress().diagnosis();
    diagnosis.require_usable();
    pairs.ask(from, to);
    const int peer = from == group_.rank() ? to : from;
    const Clock::time_point begin = Clock::now();
    const auto is_there = [&] { return pairs.extent(from, to) != 0; };
    while (group_.members().wait_until(is_there, diagnosis.next_look(begin)) != Waited::ready) {
        diagnosis.require_usable();
        diagnosis.look_for_far(peer, begin);
    }
    return pairs.extent(from, to);
}

void Channels::open(std::unique_ptr<Channel>& channel, int peer, Way way, CallSite at) {
    const UnderWay::Opening opening(
        group_.under_way(), fmt::format("its first message with rank {}{}", peer,
                                        site_text(group_.members().self(), group_.site(at))));
    const int self = group_.rank();
    const int from = way == Way::to ? self : peer, to = way == Way::to ? peer : self;
    if (group_.members().is_far(peer)) {
        std::byte* const there = group_.world()->at(extent_to_other_host(from, to));
        channel = std::make_unique<Channel>(group_, from, to, there,
                                            way == Way::to ? as_far_sender_ : as_far_receiver_);
        return;
    }
    std::byte* const base = group_.world()->at(extent_with(peer));
    channel = std::make_unique<Channel>(group_, from, to, from < to ? base : base + channel_bytes(),
                                        way == Way::to ? as_sender_ : as_receiver_);
}

}  // namespace peal::comm
