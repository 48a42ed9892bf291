// SPDX-License-Identifier: Apache-2.0
// Messages from one rank to another.
//
// A message is a broadcast between two: the sender is its root. So there is no other protocol, and
// what is proved of broadcasts holds. Each ordered pair of ranks is a *channel*: memory, turns and
// a queue of its own, so that messages disturb neither collectives nor each other. The memory of a
// pair, for both directions, is made when one of the two first needs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/group.hpp"
#include "comm/queue.hpp"

namespace peal::comm {

// One direction of a pair, as one of the two sees it.
class Channel {
public:
    // `base` has room for one direction, zeroed.
    Channel(Group& group, int from, int to, std::byte* base, Routines& routines)
        : group_(group),
          members_(group.members(), from, to, base),
          routines_(routines),
          progress_(members_, routines, group.under_way()),
          queue_(progress_, group.under_way()) {
        members_.touch();
        if (members_.span_hosts()) members_.read_other_hosts();
    }
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    Queue& queue() { return queue_; }

    // The request for a message in this memory; good until the next. Throws Error(usage) when it
    // cannot be.
    const Request& request_for(const ConstMemory& memory, CallSite at) {
        if (!remembered_[latest_].is_for(memory, at)) [[unlikely]]
            remember(memory, at);
        return remembered_[latest_].request;
    }
    void run(const ConstMemory& memory, CallSite at) {
        queue_.drain();
        progress_.run(request_for(memory, at));
    }

private:
    // A message that was sent or received before. Most programs do so with the same few buffers
    // again: these are neither checked nor looked up then.
    struct Remembered {
        ConstMemory memory{nullptr, 0, Element::u8};
        CallSite at;
        Request request;

        bool is_for(const ConstMemory& other, CallSite site) const {
            return request.routine != nullptr && memory.data == other.data &&
                   memory.count == other.count && memory.element == other.element && at == site;
        }
    };
    static constexpr std::size_t kRemembered = 4;

    void remember(const ConstMemory& memory, CallSite at);
    Request request_of(const ConstMemory& memory, CallSite at);

    Group& group_;
    Members members_;
    Routines& routines_;
    Progress progress_;
    Queue queue_;
    std::array<Remembered, kRemembered> remembered_;
    std::size_t latest_ = 0;
    std::byte nothing_{};  // what a message without elements carries
};

// All channels of one rank of a communicator.
class Channels {
public:
    explicit Channels(Group& group);
    ~Channels();
    Channels(const Channels&) = delete;
    Channels& operator=(const Channels&) = delete;

    // Throw Error(resource) when there is no memory for a new one.
    Channel& to(int peer, CallSite at) { return opened(sending_, peer, Way::to, at); }
    Channel& from(int peer, CallSite at) { return opened(receiving_, peer, Way::from, at); }

private:
    enum class Way : std::uint8_t { to, from };
    using List = std::vector<std::unique_ptr<Channel>>;  // by peer

    Channel& opened(List& list, int peer, Way way, CallSite at) {
        std::unique_ptr<Channel>& channel = list[static_cast<std::size_t>(peer)];
        if (channel == nullptr) [[unlikely]]
            open(channel, peer, way, at);
        return *channel;
    }
    void open(std::unique_ptr<Channel>& channel, int peer, Way way, CallSite at);
    std::atomic<std::uint64_t>& place_of(int peer) const;
    std::uint64_t extent_with(int peer) const;
    std::uint64_t allocate() const;
    std::uint64_t extent_to_other_host(int from, int to);

    Group& group_;
    Routines as_sender_, as_receiver_;
    Routines as_far_sender_, as_far_receiver_;  // the other is on another host
    List sending_, receiving_;
};

}  // namespace peal::comm
