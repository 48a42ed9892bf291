// SPDX-License-Identifier: Apache-2.0
// A communicator from inside: its collectives, its messages, and what it has under way.
#pragma once

#include <memory>
#include <utility>

#include "comm/channels.hpp"
#include "comm/group.hpp"
#include "comm/pieces.hpp"
#include "comm/queue.hpp"

namespace peal::comm {

class Desk {
public:
    explicit Desk(std::unique_ptr<Group> group)
        : group_(std::move(group)),
          collectives_(group_->progress(), group_->under_way()),
          channels_(*group_),
          local_pieces_(*group_) {}

    Group& group() { return *group_; }
    Queue& collectives() { return collectives_; }
    Channels& channels() { return channels_; }
    LocalPieces& local_pieces() { return local_pieces_; }
    UnderWay& under_way() { return group_->under_way(); }

private:
    std::unique_ptr<Group> group_;
    Queue collectives_;
    Channels channels_;
    LocalPieces local_pieces_;
};

}  // namespace peal::comm
