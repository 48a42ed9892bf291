// SPDX-License-Identifier: Apache-2.0
// The hub of a meeting: takes in who knows the secret, hands texts around, and tells everybody of
// the end of anybody. It is in the process of rank 0, or of a launcher.
//
// Strangers cost it little: each has a few seconds to show that it belongs here, may say a few
// bytes until then, and goes first when there are many.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "hosts/address.hpp"
#include "hosts/link.hpp"
#include "hosts/meeting.hpp"
#include "hosts/messages.hpp"
#include "hosts/secret.hpp"

namespace peal::hosts {

class Rendezvous {
public:
    struct Party {
        int nranks = 0;
        int owner = -1;                  // the rank in whose process it is; -1: a launcher's
        std::vector<std::string> hosts;  // where each rank is expected, if that is known
    };

    // `listener` is a socket that listens (address.hpp). Throws Error(resource).
    Rendezvous(base::Descriptor listener, Secret secret, Party party);
    // Whoever is still there hears that it is gone.
    ~Rendezvous();
    Rendezvous(const Rendezvous&) = delete;
    Rendezvous& operator=(const Rendezvous&) = delete;

    // Where it listens.
    Address address() const { return address_of(listener_.get()); }

    // Returns when every rank that has come has gone, and those that have not are late.
    void see_off(std::chrono::steady_clock::time_point late);

private:
    using Clock = std::chrono::steady_clock;

    struct Visitor {
        Link link;
        std::string greeting;
        Clock::time_point deadline;  // as long as it is a stranger
        int rank = -1;               // -1: a stranger
        bool owes_answer = false;    // to a ping
    };
    enum class Presence { absent, here, gone };
    struct RankEntry {
        Presence presence = Presence::absent;
        std::string host;
        bool has_given = false;  // what it exchanges
        std::string given;
    };

    void run();
    bool is_stopped();
    void look_once();
    void welcome_strangers();
    void drop_a_stranger();
    void hear(Visitor& visitor);
    void hear_claim(Visitor& visitor, std::string_view bytes);
    std::string objection(const Claim& claim) const;
    void admit(Visitor& visitor, const Claim& claim, std::string_view said);
    void hear_message(Visitor& visitor, const Message& message);
    void take_text(Visitor& visitor, const Message& message);
    void lose(Visitor& visitor);
    void send_heartbeats();
    static void tell(Visitor& visitor, const Message& message);
    void tell_all(const Message& message);
    void announce(Meeting::News::Kind kind, int rank, std::string story);
    void announce_to_others(Meeting::News news);
    void hand_around();
    std::vector<std::string> missing() const;
    std::string name_of(int rank) const;
    void count_presence();
    Clock::time_point next_event() const;

    const base::Descriptor listener_;
    const base::Descriptor wake_;
    const Secret secret_;
    const Party party_;
    // Of its thread alone.
    std::list<Visitor> visitors_;
    std::vector<RankEntry> entries_;
    std::vector<Meeting::News> news_;  // for those who come later
    bool is_full_ = false;             // no descriptors are left
    Clock::time_point next_heartbeat_{};
    // Shared with those who wait for it.
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stop_ = false;
    int absent_ = 0, here_ = 0;
    std::thread thread_;
};

}  // namespace peal::hosts
