// SPDX-License-Identifier: Apache-2.0
#include "comm/group.hpp"

#include <utility>

#include "comm/settings.hpp"

namespace peal::comm {

Group::Group(std::shared_ptr<World> world, std::vector<int> members, int rank, std::uint64_t extent,
             std::shared_ptr<const Table> table)
    : extent_(extent),
      members_(std::move(world), std::move(members), rank, extent),
      table_(std::move(table)),
      routines_(table_, rank, nranks(), limits_of(nranks(), kRoomForCollectives)),
      sites_(members_.self()),
      progress_(members_, routines_, under_way_) {
    under_way_.timeout = default_timeout();
}

Group::~Group() {
    progress_.leave();
    world()->disown(extent_);
}

void Group::remember(const Call& call, CallSite at, Remembered& last) {
    last.ready = ready(call, at);
    last.call = call;
    last.at = at;
}

// The parcel is not overwritten too early: before rank 0 hands out the next, a meeting has told it
// that everybody has come, and so has read this one.
std::uint64_t Group::hand_out(SyncReason reason, std::uint64_t number, CallSite at) {
    std::atomic<std::uint64_t>& parcel = members_.memory.head().parcel;
    if (rank() == 0) parcel.store(number, std::memory_order_relaxed);  // released by the meeting
    meet(reason, 0, at);
    return parcel.load(std::memory_order_relaxed);
}

}  // namespace peal::comm
