// SPDX-License-Identifier: Apache-2.0
// The messages of a communicator.
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm/desk.hpp"
#include "engine/aliases.hpp"
#include "peal/communicator.hpp"
#include "peal/error.hpp"

namespace peal {
namespace {

using comm::Channel;
using comm::Desk;
using comm::Queue;

[[noreturn]] void reject(std::string_view call, const std::string& why) {
    throw Error(Fault::usage, fmt::format("{}: {}", call, why));
}

void require_peer(std::string_view call, int peer, const comm::Group& group) {
    if (peer < 0 || peer >= group.nranks()) {
        reject(call,
               fmt::format("the other rank must be 0..{}, found {}", group.nranks() - 1, peer));
    }
    if (peer == group.rank()) {
        reject(call, fmt::format("rank {} is this rank itself; copy the data instead", peer));
    }
}

Channel& channel_to(Desk& desk, std::string_view call, int peer) {
    require_peer(call, peer, desk.group());
    return desk.channels().to(peer);
}
Channel& channel_from(Desk& desk, std::string_view call, int peer) {
    require_peer(call, peer, desk.group());
    return desk.channels().from(peer);
}

bool overlap(const ConstMemory& a, const ConstMemory& b) {
    return engine::overlap(a.data, a.count * bytes_of(a.element), b.data,
                           b.count * bytes_of(b.element));
}

void require_apart(std::string_view call, std::span<const Neighbour> neighbours) {
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
        const Neighbour& one = neighbours[i];
        for (std::size_t j = 0; j < neighbours.size(); ++j) {
            const Neighbour& other = neighbours[j];
            if (overlap(one.received, other.sent)) {
                reject(call, fmt::format("what is received from rank {} overlaps what is sent to "
                                         "rank {}",
                                         one.rank, other.rank));
            }
            if (j > i && overlap(one.received, other.received)) {
                reject(call, fmt::format("what is received from ranks {} and {} overlaps", one.rank,
                                         other.rank));
            }
        }
    }
}

// A queue that keeps its communicator.
std::shared_ptr<Queue> queue_of(const std::shared_ptr<Desk>& desk, Channel& channel) {
    return {desk, &channel.queue()};
}

}  // namespace

// ---------------------------------------------------------------------------- one way

void Communicator::send(ConstMemory buffer, int to, CallSite at) {
    const comm::Use use(desk_->under_way());
    channel_to(*desk_, "send", to).run(buffer, at);
}

void Communicator::recv(Memory buffer, int from, CallSite at) {
    const comm::Use use(desk_->under_way());
    channel_from(*desk_, "recv", from).run(buffer, at);
}

Pending Communicator::start_send(ConstMemory buffer, int to, CallSite at) {
    const comm::Use use(desk_->under_way());
    Channel& channel = channel_to(*desk_, "send", to);
    return {queue_of(desk_, channel), channel.queue().start(channel.ready(buffer, at))};
}

Pending Communicator::start_recv(Memory buffer, int from, CallSite at) {
    const comm::Use use(desk_->under_way());
    Channel& channel = channel_from(*desk_, "recv", from);
    return {queue_of(desk_, channel), channel.queue().start(channel.ready(buffer, at))};
}

// ---------------------------------------------------------------------------- both ways

void Communicator::sendrecv(ConstMemory sent, int to, Memory received, int from, CallSite at) {
    start_sendrecv(sent, to, received, from, at).wait();
}

Pending Communicator::start_sendrecv(ConstMemory sent, int to, Memory received, int from,
                                     CallSite at) {
    const comm::Use use(desk_->under_way());
    if (overlap(sent, received)) reject("sendrecv", "what is received overlaps what is sent");
    Channel& there = channel_to(*desk_, "sendrecv", to);
    Channel& back = channel_from(*desk_, "sendrecv", from);
    const comm::ReadyCall& given = there.ready(sent, at);
    const comm::ReadyCall& got = back.ready(received, at);
    Pending pending(queue_of(desk_, there), there.queue().start(given));
    pending.add(queue_of(desk_, back), back.queue().start(got));
    return pending;
}

void Communicator::exchange(std::span<const Neighbour> neighbours, CallSite at) {
    start_exchange(neighbours, at).wait();
}

// Everything is checked and made ready before anything is started.
Pending Communicator::start_exchange(std::span<const Neighbour> neighbours, CallSite at) {
    const comm::Use use(desk_->under_way());
    require_apart("exchange", neighbours);
    std::vector<std::pair<Channel*, comm::ReadyCall>> messages;
    messages.reserve(2 * neighbours.size());
    const auto add = [&](Channel& channel, const ConstMemory& memory) {
        messages.emplace_back(&channel, channel.ready(memory, at));
    };
    for (const Neighbour& peer : neighbours) {
        add(channel_to(*desk_, "exchange", peer.rank), peer.sent);
    }
    for (const Neighbour& peer : neighbours) {
        add(channel_from(*desk_, "exchange", peer.rank), peer.received);
    }
    Pending pending;
    for (auto& [channel, call] : messages) {
        pending.add(queue_of(desk_, *channel), channel->queue().start(std::move(call)));
    }
    return pending;
}

}  // namespace peal
