// SPDX-License-Identifier: Apache-2.0
// The net on UCX: a worker, and an endpoint for each rank that something is sent to.
//
// An adapter that reaches memory by itself is asked to. Over TCP and shared memory UCX would have
// the other process do it, in messages of its own, and in UCX 1.13 such a message that cannot be
// sent ends the process (ucp_request.inl: "unexpected error"). So there the messages are ours: *by
// mail*. They arrive in the order in which they are sent, and what they are about is checked
// against what was offered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hosts/net.hpp"
#include "hosts/ucp.hpp"
#include "peal/limits.hpp"

namespace peal::hosts {

void expect_ok(ucs_status_t status, const char* what);

struct Context {
    Context() {
        ucp_config_t* config = nullptr;
        expect_ok(ucp().config_read(nullptr, nullptr, &config), "its settings");
        // Adds of other hosts and of ranks here are atomic with each other.
        ucp().config_modify(config, "ATOMIC_MODE", "cpu");
        ucp_params_t params{};
        params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
        params.features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_AM |
                          UCP_FEATURE_WAKEUP;
        params.mt_workers_shared = 0;
        const ucs_status_t status =
            ucp().init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &handle);
        ucp().config_release(config);
        expect_ok(status, "no context");
    }
    ~Context() { ucp().cleanup(handle); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    ucp_context_h handle = nullptr;
};

struct Worker {
    explicit Worker(const Context& context) {
        ucp_worker_params_t params{};
        params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
        expect_ok(ucp().worker_create(context.handle, &params, &handle), "no worker");
        expect_ok(ucp().worker_get_efd(handle, &events), "no events to wait for");
    }
    ~Worker() { ucp().worker_destroy(handle); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    ucp_worker_h handle = nullptr;
    int events = -1;
};

class UcxNet final : public Net {
public:
    // `is_direct`: nothing but letters goes by mail. Over TCP UCX then has the other process do it.
    UcxNet(int rank, bool is_direct);
    ~UcxNet() override;

    std::string address() const override;
    void know(int rank, std::string address) override;
    bool is_connected(int rank) const override;

    std::unique_ptr<Offer> offer(std::byte* begin, std::uint64_t bytes) override;
    std::unique_ptr<Remote> reach(int rank, std::string_view key) override;

    void put(const Flight& in, Remote& to, std::uint64_t offset, const std::byte* from,
             std::uint64_t bytes) override;
    void tell(const Flight& in, const Flight* flushed, Remote& to, std::uint64_t offset,
              const std::byte* from, std::uint64_t bytes) override;
    void get(const Flight& in, std::byte* to, Remote& from, std::uint64_t offset,
             std::uint64_t bytes) override;
    void add(const Flight& in, Remote& to, std::uint64_t offset, std::int64_t value, int bytes,
             std::int64_t* before) override;
    void fence() override;
    void flush(const Flight& in, int rank) override;
    void post(int rank, std::string letter) override;

    void progress() override;
    void nap(std::chrono::microseconds limit) override;
    void catch_up() override { const std::lock_guard lock(mutex_); }

    std::optional<Letter> letter() override;
    std::optional<std::string> trouble(int rank) const override;
    bool keeps_lines(int rank) override;
    std::string transport(int rank) override;

private:
    struct Sent;
    struct Peer {
        UcxNet* net = nullptr;
        int rank = -1;
        std::string address;
        ucp_ep_h endpoint = nullptr;
        std::optional<std::string> trouble;
        bool is_by_mail = false;     // known with the endpoint
        bool has_heard_us = false;   // and said so
        bool was_heard = false;      // and told so
        std::unique_ptr<Sent> held;  // a put that the next message takes along
    };
    struct UcxOffer;
    struct UcxRemote;
    // What is under way to a rank.
    struct Ticket {
        Peer* peer;
        Flight::Share share;
    };

    // ---- by mail (ucx_mail.cpp)

    enum class Kind : std::uint32_t {
        hello,
        heard,
        letter,
        put,
        get,
        got,
        add,
        added,
        flush,
        flushed
    };
    // What a message begins with. All ranks have the same version of Peal.
    struct Head {
        Kind kind = Kind::letter;
        std::int32_t from = -1;
        std::uint64_t memory = 0;    // the number of an offer
        std::uint64_t offset = 0;    // there, or in what was asked for
        std::uint64_t bytes = 0;     // that are wanted; of an add, how many the integer has
        std::int64_t value = 0;      // of an add, or before it
        std::uint64_t question = 0;  // 0: none
    };
    // What is told with a put goes behind its head: to be written after the data.
    struct Word {
        std::uint64_t memory = 0, offset = 0, bytes = 0;
        std::array<std::byte, kCacheLineBytes> data{};
    };
    // A message on its way, or held.
    struct Sent {
        Head head;
        Word word;  // right behind
        bool has_word = false;
        Peer* to = nullptr;
        Flight::Share share;  // null: nobody waits for it
        std::string text;     // of letters
        const void* data = nullptr;
        std::uint64_t bytes = 0;
    };
    static_assert(offsetof(Sent, word) == sizeof(Head));
    // What was asked and not answered.
    struct Question {
        Peer* to = nullptr;
        Flight::Share share;
        std::byte* data = nullptr;       // get: where it goes
        std::uint64_t missing = 0;       // and how many bytes have not come
        std::int64_t* before = nullptr;  // add
    };
    // `in`: null if nobody waits for it.
    static std::unique_ptr<Sent> message(const Head& head, Peer& to, const void* data,
                                         std::uint64_t bytes, const Flight* in);
    void send_word(Peer& to, const Word& word, std::uint64_t question);
    // Behind what is held for the same rank.
    void send(std::unique_ptr<Sent> message);
    void let_go(Peer& peer);
    void let_all_go();
    void send_pieces(Head head, Peer& to, const std::byte* data, std::uint64_t bytes,
                     const Flight* in);
    std::uint64_t ask(Question question);
    void end(std::uint64_t question);
    void end_all(const Peer& peer);
    void take(const Head& head, const Word& word, std::byte* data, std::uint64_t bytes);
    void put_here(std::uint64_t memory, std::uint64_t offset, const std::byte* data,
                  std::uint64_t bytes);
    void add_here(const Head& head);
    void answer(const Head& head);
    std::byte* offered(std::uint64_t memory, std::uint64_t offset, std::uint64_t bytes);
    static void sent(void* request, ucs_status_t status, void* message);
    static ucs_status_t came(void* net, const void* header, size_t header_length, void* data,
                             size_t length, const ucp_am_recv_param_t* param);
    void listen();

    // ---- by the transport itself

    static void done(void* request, ucs_status_t status, void* ticket);
    void put_now(const Flight& in, UcxRemote& to, std::uint64_t offset, const std::byte* from,
                 std::uint64_t bytes);
    void flush_now(const Flight& in, Peer& peer);
    static ucp_request_param_t counted(Peer& peer, const Flight& in);
    static void settle(const ucp_request_param_t& param, ucs_status_ptr_t request);
    ucp_rkey_h key_of(UcxRemote& memory);

    static void broken(void* peer, ucp_ep_h endpoint, ucs_status_t status);
    Peer& peer(int rank) {
        Peer& found = peers_[rank];
        found.net = this;
        found.rank = rank;
        return found;
    }
    // Null: there is trouble.
    ucp_ep_h endpoint_of(Peer& peer) const;
    static void note(Peer& peer, ucs_status_t status) {
        if (!peer.trouble) peer.trouble = ucp().status_string(status);
        peer.net->end_all(peer);
    }

    const int rank_;
    const bool is_direct_;
    mutable std::mutex mutex_;  // around all that touches the worker
    Context context_;
    Worker worker_;
    std::map<int, Peer> peers_;  // nodes stay where they are
    std::uint64_t offers_made_ = 0;
    struct Offered {
        std::byte* begin = nullptr;
        std::uint64_t bytes = 0;
    };
    std::map<std::uint64_t, Offered> offers_;  // by number
    std::uint64_t questions_asked_ = 0;
    std::map<std::uint64_t, Question> questions_;
    std::vector<Head> to_answer_;
    std::vector<Peer*> holding_;  // something
    std::deque<Letter> letters_;
};

// What others know memory by: its number here, where it is, and what UCX says of it.
struct UcxNet::UcxRemote final : Remote {
    UcxRemote(UcxNet& the_net, Peer& the_peer, std::string_view key);
    ~UcxRemote() override;
    int rank() const override { return of.rank; }

    UcxNet& net;
    Peer& of;
    std::uint64_t number = 0, address = 0;
    std::string packed;
    ucp_rkey_h handle = nullptr;  // from when it is first used: it belongs to an endpoint
};

}  // namespace peal::hosts
