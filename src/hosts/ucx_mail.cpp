// SPDX-License-Identifier: Apache-2.0
// What the net does by mail: each operation is a message to the process whose memory it is about,
// which carries it out in its own progress. Messages from one rank to another are carried out in
// the order in which they were sent, but for gets, which take what is there a moment later: whoever
// fetches waits for it.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "hosts/ucx_net.hpp"

namespace peal::hosts {
namespace {

constexpr unsigned kMessage = 1;
// Of data in one message: less than a segment (ucp.cpp), so that it is sent and comes in one piece.
constexpr std::uint64_t kPiece = 120 << 10;

template <class Integer>
std::int64_t added_to(std::byte* cell, std::int64_t value) {
    return std::atomic_ref<Integer>(*reinterpret_cast<Integer*>(cell))
        .fetch_add(static_cast<Integer>(value), std::memory_order_seq_cst);
}

}  // namespace

void UcxNet::listen() {
    ucp_am_handler_param_t handler{};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                         UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
    handler.id = kMessage;
    handler.cb = &came;
    handler.arg = this;
    handler.flags = UCP_AM_FLAG_WHOLE_MSG;
    expect_ok(ucp().worker_set_am_recv_handler(worker_.handle, &handler), "no messages");
}

// ---------------------------------------------------------------------------- sending

std::unique_ptr<UcxNet::Sent> UcxNet::message(const Head& head, Peer& to, const void* data,
                                              std::uint64_t bytes, const Flight* in) {
    auto made = std::make_unique<Sent>();
    made->head = head;
    made->to = &to;
    made->data = data;
    made->bytes = bytes;
    if (in != nullptr) made->share = in->begin();
    return made;
}

void UcxNet::send(std::unique_ptr<Sent> message) {
    let_go(*message->to);
    ucp_ep_h const endpoint = endpoint_of(*message->to);
    if (endpoint == nullptr) {
        if (message->share) Flight::end(message->share);
        return;
    }
    message->head.from = rank_;
    ucp_request_param_t param{};
    param.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_EAGER;
    param.cb.send = &sent;
    Sent* const kept = message.release();  // until sent()
    param.user_data = kept;
    const std::size_t header = sizeof kept->head + (kept->has_word ? sizeof kept->word : 0);
    const ucs_status_ptr_t request =
        ucp().am_send_nbx(endpoint, kMessage, &kept->head, header, kept->data, kept->bytes, &param);
    const bool is_under_way = request != nullptr && !UCS_PTR_IS_ERR(request);
    if (!is_under_way) sent(nullptr, UCS_PTR_STATUS(request), kept);
}

// With what is held for the rank, or alone: a put of nothing.
void UcxNet::send_word(Peer& to, const Word& word, std::uint64_t question) {
    std::unique_ptr<Sent> carrier = std::move(to.held);
    if (!carrier) carrier = message({.kind = Kind::put}, to, nullptr, 0, nullptr);
    carrier->head.question = question;
    carrier->word = word;
    carrier->has_word = true;
    send(std::move(carrier));
}

void UcxNet::let_go(Peer& peer) {
    if (peer.held) send(std::move(peer.held));
}

void UcxNet::let_all_go() {
    for (Peer* const peer : std::exchange(holding_, {})) let_go(*peer);
}

void UcxNet::sent(void* request, ucs_status_t status, void* message) {
    const std::unique_ptr<Sent> of(static_cast<Sent*>(message));
    if (status != UCS_OK) note(*of->to, status);
    if (of->share) Flight::end(of->share);
    if (request != nullptr) ucp().request_free(request);
}

void UcxNet::send_pieces(Head head, Peer& to, const std::byte* data, std::uint64_t bytes,
                         const Flight* in) {
    for (std::uint64_t at = 0; at < bytes;) {
        const std::uint64_t piece = std::min(kPiece, bytes - at);
        send(message(head, to, data + at, piece, in));
        head.offset += piece;
        at += piece;
    }
}

void UcxNet::post(int rank, std::string letter) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Sent> post = message({}, peer(rank), nullptr, 0, nullptr);
    post->text = std::move(letter);
    post->data = post->text.data();  // stays where the message is
    post->bytes = post->text.size();
    send(std::move(post));
}

// ---------------------------------------------------------------------------- questions

std::uint64_t UcxNet::ask(Question question) {
    questions_.emplace(++questions_asked_, std::move(question));
    return questions_asked_;
}

void UcxNet::end(std::uint64_t question) {
    const auto found = questions_.find(question);
    Flight::end(found->second.share);
    questions_.erase(found);
}

// Nobody answers any more.
void UcxNet::end_all(const Peer& peer) {
    std::erase_if(questions_, [&](const auto& question) {
        if (question.second.to != &peer) return false;
        Flight::end(question.second.share);
        return true;
    });
}

// ---------------------------------------------------------------------------- what has come

ucs_status_t UcxNet::came(void* net, const void* header, size_t header_length, void* data,
                          size_t length, const ucp_am_recv_param_t* param) {
    Head head;
    Word word;
    const bool is_here = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0;
    const bool has_word = header_length == sizeof head + sizeof word;
    if ((header_length != sizeof head && !has_word) || !is_here) return UCS_OK;  // not one of ours
    std::memcpy(&head, header, sizeof head);
    if (has_word) {
        std::memcpy(&word, static_cast<const std::byte*>(header) + sizeof head, sizeof word);
    }
    static_cast<UcxNet*>(net)->take(head, word, static_cast<std::byte*>(data), length);
    return UCS_OK;
}

// Null: there is no such memory here.
std::byte* UcxNet::offered(std::uint64_t memory, std::uint64_t offset, std::uint64_t bytes) {
    const auto found = offers_.find(memory);
    if (found == offers_.end()) return nullptr;
    const Offered& there = found->second;
    const bool fits = offset <= there.bytes && bytes <= there.bytes - offset;
    return fits ? there.begin + offset : nullptr;
}

void UcxNet::put_here(std::uint64_t memory, std::uint64_t offset, const std::byte* data,
                      std::uint64_t bytes) {
    if (bytes == 0) return;
    if (std::byte* const to = offered(memory, offset, bytes)) std::memcpy(to, data, bytes);
}

// A message that makes no sense is not of a rank of this job, or of one that is out of order: it
// does nothing. What wants an answer gets it when UCX is done with what has come.
void UcxNet::take(const Head& head, const Word& word, std::byte* data, std::uint64_t bytes) {
    switch (head.kind) {
        case Kind::hello: to_answer_.push_back({.kind = Kind::heard, .from = head.from}); break;
        case Kind::heard: peer(head.from).has_heard_us = true; break;
        case Kind::letter:
            letters_.push_back({head.from, {reinterpret_cast<const char*>(data), bytes}});
            break;
        case Kind::put:
            put_here(head.memory, head.offset, data, bytes);
            if (word.bytes <= word.data.size()) {
                put_here(word.memory, word.offset, word.data.data(), word.bytes);
            }
            if (head.question == 0) break;
            [[fallthrough]];
        case Kind::flush:
            to_answer_.push_back(
                {.kind = Kind::flushed, .from = head.from, .question = head.question});
            break;
        case Kind::get: to_answer_.push_back(head); break;
        case Kind::add: add_here(head); break;
        case Kind::got: {
            const auto found = questions_.find(head.question);
            if (found == questions_.end()) break;
            Question& question = found->second;
            if (question.data == nullptr || bytes > question.missing) break;
            std::memcpy(question.data + head.offset, data, bytes);
            question.missing -= bytes;
            if (question.missing == 0) end(head.question);
            break;
        }
        case Kind::added: {
            const auto found = questions_.find(head.question);
            if (found == questions_.end() || found->second.before == nullptr) break;
            *found->second.before = head.value;
            end(head.question);
            break;
        }
        case Kind::flushed:
            if (questions_.contains(head.question)) end(head.question);
            break;
    }
}

void UcxNet::add_here(const Head& head) {
    std::byte* const cell = offered(head.memory, head.offset, head.bytes);
    const bool is_narrow = head.bytes == sizeof(std::int32_t);
    const bool is_wide = head.bytes == sizeof(std::int64_t);
    if (cell == nullptr || (!is_narrow && !is_wide) ||
        reinterpret_cast<std::uintptr_t>(cell) % head.bytes != 0) {
        return;
    }
    const std::int64_t before = is_narrow ? added_to<std::int32_t>(cell, head.value)
                                          : added_to<std::int64_t>(cell, head.value);
    to_answer_.push_back(
        {.kind = Kind::added, .from = head.from, .value = before, .question = head.question});
}

// `head` is the answer, or what is wanted.
void UcxNet::answer(const Head& head) {
    Peer& to = peer(head.from);
    if (head.kind == Kind::get) {
        const std::byte* const data = offered(head.memory, head.offset, head.bytes);
        const Head got{.kind = Kind::got, .question = head.question};
        if (data != nullptr) send_pieces(got, to, data, head.bytes, nullptr);
        return;
    }
    if (head.kind == Kind::heard) to.was_heard = true;
    send(message(head, to, nullptr, 0, nullptr));
}

// One step: whoever waits looks for what it waits for before it asks whether there is more.
void UcxNet::progress() {
    const std::lock_guard lock(mutex_);
    let_all_go();
    ucp().worker_progress(worker_.handle);
    for (const Head& head : std::exchange(to_answer_, {})) answer(head);
}

std::optional<Net::Letter> UcxNet::letter() {
    const std::lock_guard lock(mutex_);
    if (letters_.empty()) return std::nullopt;
    Letter first = std::move(letters_.front());
    letters_.pop_front();
    return first;
}

}  // namespace peal::hosts
