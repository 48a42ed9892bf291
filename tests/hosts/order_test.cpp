// SPDX-License-Identifier: Apache-2.0
// What is put into memory on other hosts is there before anybody is told: what the net is asked
// for, and in which order, by one who relies on nothing that the net does not promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm/far_memory.hpp"
#include "hosts/job.hpp"

namespace peal::hosts {
namespace order_test {

using comm::FarMemory;
using testing::ElementsAre;
using testing::IsEmpty;

struct Elsewhere final : Remote {
    explicit Elsewhere(int of) : rank_(of) {}
    int rank() const override { return rank_; }
    int rank_;
};

// Writes down what it is asked for; nothing is over before the test says so.
class Notebook final : public Net {
public:
    explicit Notebook(bool keeps_lines) : keeps_lines_(keeps_lines) {}

    std::string address() const override { return {}; }
    void know(int, std::string) override {}
    bool is_connected(int) const override { return true; }
    std::unique_ptr<Offer> offer(std::byte*, std::uint64_t) override { return nullptr; }
    std::unique_ptr<Remote> reach(int rank, std::string_view) override {
        return std::make_unique<Elsewhere>(rank);
    }
    void put(const Flight& in, Remote& to, std::uint64_t offset, const std::byte*,
             std::uint64_t bytes) override {
        note(in, fmt::format("put {} bytes to rank {} at {}", bytes, to.rank(), offset));
    }
    void tell(const Flight& in, const Flight* flushed, Remote& to, std::uint64_t offset,
              const std::byte*, std::uint64_t bytes) override {
        if (flushed != nullptr) shares_.push_back(flushed->begin());
        note(in, fmt::format("tell rank {} {} bytes at {}{}", to.rank(), bytes, offset,
                             flushed != nullptr ? " and flush" : ""));
    }
    void get(const Flight& in, std::byte*, Remote& from, std::uint64_t offset,
             std::uint64_t bytes) override {
        note(in, fmt::format("get {} bytes of rank {} at {}", bytes, from.rank(), offset));
    }
    void add(const Flight& in, Remote& to, std::uint64_t offset, std::int64_t value, int,
             std::int64_t*) override {
        note(in, fmt::format("add {} to rank {} at {}", value, to.rank(), offset));
    }
    void fence() override { notes_.push_back("fence"); }
    void flush(const Flight& in, int rank) override {
        note(in, fmt::format("flush rank {}", rank));
    }
    void post(int, std::string) override {}
    void progress() override {}
    void nap(std::chrono::microseconds) override {}
    void catch_up() override {}
    std::optional<Letter> letter() override { return std::nullopt; }
    std::optional<std::string> trouble(int) const override { return std::nullopt; }
    bool keeps_lines(int) override { return keeps_lines_; }
    std::string transport(int) override { return "a notebook"; }

    std::vector<std::string> notes() { return std::exchange(notes_, {}); }
    void end_all() {
        for (const Flight::Share& share : std::exchange(shares_, {})) Flight::end(share);
    }

private:
    void note(const Flight& in, std::string text) {
        shares_.push_back(in.begin());
        notes_.push_back(std::move(text));
    }
    const bool keeps_lines_;
    std::vector<std::string> notes_;
    std::vector<Flight::Share> shares_;
};

// Three ranks, each on a host of its own, of which the first is here.
class Alone final : public Meeting {
public:
    int rank() const override { return 0; }
    int nranks() const override { return 3; }
    const std::string& host_of(int rank) const override {
        return hosts_[static_cast<std::size_t>(rank)];
    }
    std::vector<std::string> exchange(std::string_view own) override {
        return std::vector<std::string>(3, std::string(own));
    }
    std::optional<News> news() override {  // they end at once when this one does
        return std::exchange(has_told_, true) ? std::nullopt
                                              : std::optional(News{News::Kind::died, 1, ""});
    }
    void fail(std::string_view) override {}
    void leave() override {}

private:
    std::vector<std::string> hosts_ = {"a", "b", "c"};
    bool has_told_ = false;
};

class Order : public testing::TestWithParam<bool> {
protected:
    Order() {
        const auto open = [this](int) {
            auto net = std::make_unique<Notebook>(GetParam());
            net_ = net.get();
            return net;
        };
        auto world = shm::World::create(3);
        world->enter(0);
        job_ = std::make_unique<Job>(std::make_unique<Alone>(), LocalWorld{{world, 0}, {0, 1, 2}},
                                     open);
        for (const int rank : {1, 2}) {
            job_->mirrors().add(mirror(rank), kPart, net_->reach(rank, ""));
        }
        far_.emplace(*job_, false);
    }
    std::byte* mirror(int rank) { return memory_.data() + static_cast<std::size_t>(rank) * kPart; }
    // As plans do between hosts: deferred, and with a fence before anybody is told.
    void put(std::byte* mirror, const std::byte* from, std::uint64_t bytes) {
        far_->put(mirror, from, bytes, kGroup);
        far_->fence(kGroup);
    }
    void put_in_line(std::byte* mirror, const std::byte* from, std::uint64_t bytes) {
        far_->put_in_line(mirror, from, bytes, kGroup);
        far_->fence(kGroup);
    }
    // Says what had to be asked for.
    std::vector<std::string> tell(int rank) {
        far_->begin_telling(rank);
        std::vector<std::string> notes = net_->notes();
        EXPECT_EQ(far_->is_complete_but(rank), notes.empty());
        net_->end_all();
        EXPECT_TRUE(far_->is_complete_but(rank));
        far_->end_telling(rank);
        return notes;
    }

    static constexpr std::uint64_t kPart = 4096;
    static constexpr std::uint16_t kGroup = 1;
    alignas(kCacheLineBytes) std::array<std::byte, 3 * kPart> memory_{};
    std::array<std::byte, 256> own_{};
    std::unique_ptr<Job> job_;
    Notebook* net_ = nullptr;
    std::optional<FarMemory> far_;
};

TEST_P(Order, TheOneThatWasPutToIsToldBehindAFence) {
    put(mirror(1), own_.data(), 100);
    net_->notes();
    EXPECT_THAT(tell(1), IsEmpty());
    const std::int64_t value = 1;
    far_->set(mirror(1) + 128, &value, sizeof value);
    EXPECT_THAT(net_->notes(), ElementsAre("tell rank 1 8 bytes at 128"));
}

TEST_P(Order, AnybodyElseIsToldAfterAFlush) {
    put(mirror(1), own_.data(), 100);
    net_->notes();
    EXPECT_THAT(tell(2), ElementsAre("flush rank 1"));
    EXPECT_THAT(tell(2), IsEmpty());
    EXPECT_THAT(tell(FarMemory::kNobody), IsEmpty());
}

TEST_P(Order, ToldIsNotYetThere) {
    put(mirror(1), own_.data(), 100);
    net_->notes();
    EXPECT_THAT(tell(1), IsEmpty());
    EXPECT_THAT(tell(FarMemory::kNobody), ElementsAre("flush rank 1"));
}

TEST_P(Order, DeferredPutsCountFromTheirFence) {
    far_->put(mirror(1), own_.data(), 100, 7);
    far_->put(mirror(2), own_.data(), 100, 8);
    net_->notes();
    EXPECT_THAT(tell(FarMemory::kNobody), IsEmpty());
    far_->fence(7);
    EXPECT_THAT(tell(FarMemory::kNobody), ElementsAre("flush rank 1"));
    far_->end_call();  // is a fence of all
    EXPECT_THAT(tell(FarMemory::kNobody), ElementsAre("flush rank 2"));
}

TEST_P(Order, WhatWasPutIsFetchedAsItWasPut) {
    put(mirror(1), own_.data(), 100);
    far_->fetch(own_.data(), mirror(1), 100);
    far_->fetch(own_.data(), mirror(2), 100);
    EXPECT_THAT(net_->notes(),
                ElementsAre("put 100 bytes to rank 1 at 0", "fence", "get 100 bytes of rank 1 at 0",
                            "get 100 bytes of rank 2 at 0"));
}

// Behind a fence of the plan what is put comes later than what was; whoever has told somebody needs
// no fence of the net for that.
TEST_P(Order, WhatIsPutBehindAFenceComesLater) {
    far_->put(mirror(1), own_.data(), 100, kGroup);
    far_->put(mirror(1) + 100, own_.data(), 10, kGroup);
    far_->fence(kGroup);
    far_->put(mirror(1), own_.data() + 100, 20, kGroup);
    far_->put(mirror(1) + 20, own_.data(), 30, kGroup);
    EXPECT_THAT(
        net_->notes(),
        ElementsAre("put 100 bytes to rank 1 at 0", "put 10 bytes to rank 1 at 100", "fence",
                    "put 20 bytes to rank 1 at 0", "put 30 bytes to rank 1 at 20"));
    far_->fence(kGroup);
    tell(1);
    far_->put(mirror(1), own_.data(), 40, kGroup);
    EXPECT_THAT(net_->notes(), ElementsAre("put 40 bytes to rank 1 at 0"));
    far_->end_call();
    put(mirror(1), own_.data(), 50);
    EXPECT_THAT(net_->notes(), ElementsAre("fence", "put 50 bytes to rank 1 at 0"));
}

TEST_P(Order, WhatIsUnderWayIsNotChanged) {
    put(mirror(1), own_.data() + 10, 20);
    EXPECT_TRUE(far_->uses(own_.data(), 11));
    EXPECT_TRUE(far_->uses(own_.data() + 29, 1));
    EXPECT_FALSE(far_->uses(own_.data(), 10));
    EXPECT_FALSE(far_->uses(own_.data() + 30, 10));
    net_->end_all();
    EXPECT_FALSE(far_->uses(own_.data(), 100));
}

// A line that is the sender's alone, with its cell in the last word.
TEST_P(Order, AFewBytesGoWithTheirCell) {
    const std::int64_t value = 1;
    put_in_line(mirror(1) + 64, own_.data(), 20);
    EXPECT_EQ(net_->notes().size(), GetParam() ? 0U : 1U);
    EXPECT_THAT(tell(1), IsEmpty());
    far_->set(mirror(1) + 120, &value, sizeof value);
    EXPECT_THAT(net_->notes(), ElementsAre(GetParam() ? "tell rank 1 64 bytes at 64"
                                                      : "tell rank 1 8 bytes at 120"));
    EXPECT_THAT(tell(FarMemory::kNobody), ElementsAre("flush rank 1"));
}

// Who is told next need not wait for a question and its answer.
TEST_P(Order, WhereThereAreOthersItIsAskedForAtOnce) {
    far_.emplace(*job_, true);
    const std::int64_t value = 1;
    far_->set(mirror(1) + 128, &value, sizeof value);
    EXPECT_THAT(net_->notes(), ElementsAre("tell rank 1 8 bytes at 128"));
    put(mirror(1), own_.data(), 100);
    far_->set(mirror(1) + 128, &value, sizeof value);
    EXPECT_THAT(net_->notes(), ElementsAre("put 100 bytes to rank 1 at 0",
                                           "tell rank 1 8 bytes at 128 and flush"));
    EXPECT_FALSE(far_->is_complete_but(2));
    net_->end_all();
    EXPECT_THAT(tell(2), IsEmpty());
    // What is put later is not what was asked for.
    put(mirror(1), own_.data(), 100);
    far_->set(mirror(1) + 128, &value, sizeof value);
    put(mirror(1), own_.data(), 100);
    net_->notes();
    EXPECT_THAT(tell(2), ElementsAre("flush rank 1"));
}

TEST_P(Order, WhatIsPutIntoTheLineAgainComesLater) {
    const std::int64_t value = 1;
    put_in_line(mirror(1) + 64, own_.data(), 20);
    put_in_line(mirror(1) + 64, own_.data(), 30);
    if (GetParam()) {
        EXPECT_THAT(net_->notes(), ElementsAre("tell rank 1 20 bytes at 64"));
    } else {
        EXPECT_THAT(net_->notes(), ElementsAre("put 20 bytes to rank 1 at 64", "fence",
                                               "put 30 bytes to rank 1 at 64"));
    }
    tell(1);
    far_->set(mirror(1) + 120, &value, sizeof value);
    EXPECT_THAT(net_->notes(), ElementsAre(GetParam() ? "tell rank 1 64 bytes at 64"
                                                      : "tell rank 1 8 bytes at 120"));
}

TEST_P(Order, OrWithoutItIfAnotherIsToldFirst) {
    put_in_line(mirror(1) + 64, own_.data(), 20);
    EXPECT_THAT(tell(2), ElementsAre(GetParam() ? "tell rank 1 20 bytes at 64"
                                                : "put 20 bytes to rank 1 at 64",
                                     "flush rank 1"));
}

INSTANTIATE_TEST_SUITE_P(Lines, Order, testing::Bool(), [](const auto& info) {
    return std::string(info.param ? "kept" : "not_kept");
});

}  // namespace order_test
}  // namespace peal::hosts
