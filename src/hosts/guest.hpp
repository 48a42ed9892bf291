// SPDX-License-Identifier: Apache-2.0
// A rank at a rendezvous. A thread of its own hears what the hub says, and answers it, so that a
// rank that computes for long is not taken for lost.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "hosts/address.hpp"
#include "hosts/link.hpp"
#include "hosts/meeting.hpp"
#include "hosts/messages.hpp"
#include "hosts/rendezvous.hpp"
#include "hosts/secret.hpp"

namespace peal::hosts {

inline constexpr std::chrono::milliseconds kToMeet{60'000};  // unless PEAL_TIMEOUT says so

struct Invitation {
    int rank = 0;
    int nranks = 0;
    Address address;
    std::string secret;
    std::string host;                             // what this one is called
    std::chrono::milliseconds to_meet = kToMeet;  // until all must have come; zero is for ever
    std::chrono::milliseconds to_go_on{0};        // of later exchanges
    std::shared_ptr<void> keeps = nullptr;        // what must be there as long as the meeting
};

class Guest : public Meeting {
public:
    // `hub` is there in the process that has it. Tries until somebody answers at the address.
    // Throws Error(bound): nobody did in time; Error(usage): it was refused; Error(wrong): who
    // answered does not know the secret.
    explicit Guest(Invitation invitation, std::unique_ptr<Rendezvous> hub = nullptr);
    // One who has neither left nor failed is dead for the others.
    ~Guest() override;

    int rank() const override { return invitation_.rank; }
    int nranks() const override { return invitation_.nranks; }
    const std::string& host_of(int rank) const override;
    std::vector<std::string> exchange(std::string_view own) override;
    std::optional<News> news() override;
    void fail(std::string_view story) override;
    // Whoever has the hub stays until the others have gone.
    void leave() override;

private:
    using Clock = std::chrono::steady_clock;
    using Kind = Message::Kind;

    Link connected() const;
    std::optional<Link> tried(Clock::time_point deadline) const;
    void listen();
    void look_once();
    void hear(const Message& message);
    void take(News news);
    void say(const Message& message);
    bool say_and_wait(Kind kind, std::vector<std::string> texts);
    void expect_all_well(std::unique_lock<std::mutex>& lock) const;
    std::string where_hub_listens() const;
    [[noreturn]] void time_out(std::unique_lock<std::mutex>& lock, Clock::duration waited);

    const Invitation invitation_;
    const Secret secret_;
    const Clock::time_point begin_ = Clock::now();
    std::unique_ptr<Rendezvous> hub_;
    mutable int owner_ = -1;  // of the hub
    const base::Descriptor wake_;

    std::mutex mutex_;
    std::condition_variable changed_;
    Link link_;
    bool stop_ = false, has_left_ = false, has_failed_ = false;
    bool owes_answer_ = false;
    Clock::time_point next_heartbeat_{};
    std::vector<std::string> hosts_;
    std::optional<std::vector<std::string>> texts_;    // of the exchange that is under way
    std::optional<std::vector<std::string>> missing_;  // from it
    std::optional<Kind> answered_;                     // leave or fail
    std::optional<News> first_loss_;                   // after which nothing can be exchanged
    std::deque<News> news_;
    std::atomic<bool> has_news_ = false;
    bool has_exchanged_ = false;
    std::thread thread_;
};

}  // namespace peal::hosts
