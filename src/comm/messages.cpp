// SPDX-License-Identifier: Apache-2.0
// The messages of a communicator.
#include <exception>
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

Channel& channel_to(Desk& desk, std::string_view call, int peer, CallSite at) {
    require_peer(call, peer, desk.group());
    return desk.channels().to(peer, at);
}
Channel& channel_from(Desk& desk, std::string_view call, int peer, CallSite at) {
    require_peer(call, peer, desk.group());
    return desk.channels().from(peer, at);
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

// Messages of one call. Everything is checked and made ready before anything is started.
class Messages {
public:
    struct Message {
        Channel* channel;
        comm::Request request;
        Queue::Ticket ticket = 0;  // once it is started
    };

    explicit Messages(std::size_t count) { messages_.reserve(count); }

    void add(Channel& channel, const ConstMemory& memory, CallSite at) {
        messages_.push_back({&channel, channel.request_for(memory, at)});
    }
    // If one cannot be, those before it are over, too.
    const std::vector<Message>& start() {
        for (std::size_t i = 0; i < messages_.size(); ++i) {
            Message& message = messages_[i];
            try {
                message.ticket = message.channel->queue().start(message.request);
            } catch (...) {
                wait_for(i);
                throw;
            }
        }
        return messages_;
    }
    // Their buffers are the caller's again when this returns, by an error as well.
    void carry_out() {
        start();
        if (const std::exception_ptr wrong = wait_for(messages_.size())) {
            std::rethrow_exception(wrong);
        }
    }

private:
    // The first error, if there was one; what comes behind it fails at once.
    std::exception_ptr wait_for(std::size_t count) {
        std::exception_ptr wrong;
        for (std::size_t i = 0; i < count; ++i) {
            try {
                messages_[i].channel->queue().wait(messages_[i].ticket);
            } catch (...) {
                if (!wrong) wrong = std::current_exception();
            }
        }
        return wrong;
    }

    std::vector<Message> messages_;
};

Messages messages_of(Desk& desk, ConstMemory sent, int to, Memory received, int from, CallSite at) {
    if (overlap(sent, received)) reject("sendrecv", "what is received overlaps what is sent");
    Channel& there = channel_to(desk, "sendrecv", to, at);
    Channel& back = channel_from(desk, "sendrecv", from, at);
    Messages messages(2);
    messages.add(there, sent, at);
    messages.add(back, received, at);
    return messages;
}

Messages messages_of(Desk& desk, std::span<const Neighbour> neighbours, CallSite at) {
    require_apart("exchange", neighbours);
    Messages messages(2 * neighbours.size());
    for (const Neighbour& peer : neighbours) {
        messages.add(channel_to(desk, "exchange", peer.rank, at), peer.sent, at);
    }
    for (const Neighbour& peer : neighbours) {
        messages.add(channel_from(desk, "exchange", peer.rank, at), peer.received, at);
    }
    return messages;
}

}  // namespace

// ---------------------------------------------------------------------------- one way

void Communicator::send(ConstMemory buffer, int to, CallSite at) {
    const comm::Use use(desk_->under_way());
    channel_to(*desk_, "send", to, at).run(buffer, at);
}

void Communicator::recv(Memory buffer, int from, CallSite at) {
    const comm::Use use(desk_->under_way());
    channel_from(*desk_, "recv", from, at).run(buffer, at);
}

Pending Communicator::start_send(ConstMemory buffer, int to, CallSite at) {
    const comm::Use use(desk_->under_way());
    Channel& channel = channel_to(*desk_, "send", to, at);
    return {queue_of(desk_, channel), channel.queue().start(channel.request_for(buffer, at))};
}

Pending Communicator::start_recv(Memory buffer, int from, CallSite at) {
    const comm::Use use(desk_->under_way());
    Channel& channel = channel_from(*desk_, "recv", from, at);
    return {queue_of(desk_, channel), channel.queue().start(channel.request_for(buffer, at))};
}

// ---------------------------------------------------------------------------- both ways

void Communicator::sendrecv(ConstMemory sent, int to, Memory received, int from, CallSite at) {
    const comm::Use use(desk_->under_way());
    messages_of(*desk_, sent, to, received, from, at).carry_out();
}

Pending Communicator::start_sendrecv(ConstMemory sent, int to, Memory received, int from,
                                     CallSite at) {
    const comm::Use use(desk_->under_way());
    Messages messages = messages_of(*desk_, sent, to, received, from, at);
    Pending pending;
    for (const Messages::Message& message : messages.start()) {
        pending.add(queue_of(desk_, *message.channel), message.ticket);
    }
    return pending;
}

void Communicator::exchange(std::span<const Neighbour> neighbours, CallSite at) {
    const comm::Use use(desk_->under_way());
    messages_of(*desk_, neighbours, at).carry_out();
}

Pending Communicator::start_exchange(std::span<const Neighbour> neighbours, CallSite at) {
    const comm::Use use(desk_->under_way());
    Messages messages = messages_of(*desk_, neighbours, at);
    Pending pending;
    for (const Messages::Message& message : messages.start()) {
        pending.add(queue_of(desk_, *message.channel), message.ticket);
    }
    return pending;
}

}  // namespace peal
