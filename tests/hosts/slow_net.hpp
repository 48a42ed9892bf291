// SPDX-License-Identifier: Apache-2.0
// A net of which the way to one rank is slow: what is sent there leaves later, in the order in
// which it was issued. The sender is done with it at once, as with what a system has taken.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "hosts/net.hpp"

namespace peal::hosts::test {

class SlowNet final : public Net {
public:
    SlowNet(std::unique_ptr<Net> net, int slow_rank) : net_(std::move(net)), slow_(slow_rank) {}

    std::string address() const override { return net_->address(); }
    void know(int rank, std::string address) override { net_->know(rank, std::move(address)); }
    bool is_connected(int rank) const override { return net_->is_connected(rank); }
    std::unique_ptr<Offer> offer(std::byte* begin, std::uint64_t bytes) override {
        return net_->offer(begin, bytes);
    }
    std::unique_ptr<Remote> reach(int rank, std::string_view key) override {
        return std::make_unique<Reached>(net_->reach(rank, key));
    }

    void put(const Flight& in, Remote& to, std::uint64_t offset, const std::byte* from,
             std::uint64_t bytes) override {
        if (to.rank() != slow_) return net_->put(in, *of(to), offset, from, bytes);
        later([=, this, there = of(to), kept = copy(from, bytes)] {
            net_->put(sent_, *there, offset, kept, bytes);
        });
    }
    void tell(const Flight& in, const Flight* flushed, Remote& to, std::uint64_t offset,
              const std::byte* from, std::uint64_t bytes) override {
        if (to.rank() != slow_) return net_->tell(in, flushed, *of(to), offset, from, bytes);
        later([=, this, there = of(to), kept = copy(from, bytes)] {
            net_->tell(sent_, nullptr, *there, offset, kept, bytes);
        });
        if (flushed != nullptr) flush(*flushed, slow_);
    }
    void get(const Flight& in, std::byte* to, Remote& from, std::uint64_t offset,
             std::uint64_t bytes) override {
        if (from.rank() != slow_) return net_->get(in, to, *of(from), offset, bytes);
        later([=, this, there = of(from), share = in.begin()] {
            net_->get(in, to, *there, offset, bytes);
            Flight::end(share);
        });
    }
    void add(const Flight& in, Remote& to, std::uint64_t offset, std::int64_t value, int bytes,
             std::int64_t* before) override {
        if (to.rank() != slow_) return net_->add(in, *of(to), offset, value, bytes, before);
        later([=, this, there = of(to), share = in.begin()] {
            net_->add(in, *there, offset, value, bytes, before);
            Flight::end(share);
        });
    }
    void fence() override { net_->fence(); }
    void flush(const Flight& in, int rank) override {
        if (rank != slow_) return net_->flush(in, rank);
        later([=, this, share = in.begin()] {
            net_->flush(in, rank);
            Flight::end(share);
        });
    }
    void post(int rank, std::string letter) override {
        if (rank != slow_) return net_->post(rank, std::move(letter));
        later([this, rank, letter] { net_->post(rank, letter); });
    }

    void progress() override {
        send_until(Clock::now());
        net_->progress();
    }
    void nap(std::chrono::microseconds limit) override { net_->nap(limit); }
    void catch_up() override { net_->catch_up(); }
    std::optional<Letter> letter() override { return net_->letter(); }
    std::optional<std::string> trouble(int rank) const override { return net_->trouble(rank); }
    bool keeps_lines(int rank) override { return net_->keeps_lines(rank); }
    std::string transport(int rank) override { return net_->transport(rank); }

private:
    using Clock = std::chrono::steady_clock;
    // Longer than ranks that stand still take to ask each other twice.
    static constexpr std::chrono::milliseconds kDelay{400};

    // Stays as long as something waits that is for it: who has issued that may be through with it.
    struct Reached final : Remote {
        explicit Reached(std::unique_ptr<Remote> memory) : there(std::move(memory)) {}
        int rank() const override { return there->rank(); }
        std::shared_ptr<Remote> there;
    };
    static std::shared_ptr<Remote> of(const Remote& memory) {
        return static_cast<const Reached&>(memory).there;
    }

    struct Waiting {
        Clock::time_point due;
        std::function<void()> send;
    };
    const std::byte* copy(const std::byte* from, std::uint64_t bytes) {
        const std::lock_guard lock(mutex_);
        return kept_.emplace_back(from, from + bytes).data();
    }
    void later(std::function<void()> send) {
        const std::lock_guard lock(mutex_);
        const auto due = waiting_.empty() ? Clock::now() + kDelay : waiting_.back().due;
        waiting_.push_back({due, std::move(send)});
    }
    void send_until(Clock::time_point time) {
        const std::lock_guard lock(mutex_);
        while (!waiting_.empty() && waiting_.front().due <= time) {
            waiting_.front().send();
            waiting_.pop_front();
        }
    }

    std::unique_ptr<Net> net_;
    const int slow_;
    std::mutex mutex_;
    std::deque<Waiting> waiting_;
    std::deque<std::vector<std::byte>> kept_;
    Flight sent_;
};

}  // namespace peal::hosts::test
