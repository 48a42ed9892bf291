// SPDX-License-Identifier: Apache-2.0
// Thousands of calls of all kinds and sizes in random order, on ranks that are late at random:
// plain, started, prepared, and on two communicators at once.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "comm/script.hpp"

namespace peal::comm {
namespace sequences_test {

using test::make;
using test::Script;
using test::Task;

// Every rank is late at other times.
class Delays {
public:
    explicit Delays(int rank) : random_(static_cast<unsigned>(rank) + 1) {}

    void maybe() {
        const auto kind = random_() % 16;
        if (kind == 0) std::this_thread::yield();
        if (kind == 1) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 100));
        if (kind == 2) {
            for (auto spins = random_() % 2000; spins > 0; --spins) relax();
        }
    }

private:
    static void relax() { std::atomic_signal_fence(std::memory_order_seq_cst); }
    std::mt19937 random_;
};

class Sequences : public testing::TestWithParam<int> {
protected:
    static void on_ranks(const std::function<void(Communicator&)>& body) {
        Communicator::threads(GetParam(), body);
    }
};

// Ranks may differ in whether they call in place.
TEST_P(Sequences, OfPlainCalls) {
    on_ranks([](Communicator& comm) {
        Script script(11, comm.nranks());
        Delays delays(comm.rank());
        for (int i = 0; i < 1500; ++i) {
            make(comm, script.next(), (i + comm.rank()) % 3 == 0);
            delays.maybe();
        }
    });
}

TEST_P(Sequences, OnTwoCommunicatorsWithOtherRanks) {
    on_ranks([](Communicator& comm) {
        Communicator reversed = comm.split(0, -comm.rank());
        Communicator half = comm.split(comm.rank() % 2);
        ASSERT_EQ(reversed.rank(), comm.nranks() - 1 - comm.rank());
        Script script(12, comm.nranks());
        Script script_of_half(13, half.nranks());
        Delays delays(comm.rank());
        for (int i = 0; i < 500; ++i) {
            make(script.number(2) == 0 ? comm : reversed, script.next(), false);
            make(half, script_of_half.next(), true);
            delays.maybe();
        }
    });
}

// A call that is under way, and what it must give.
struct UnderWay {
    std::vector<std::int32_t> input, output, expected;
    std::optional<Pending> pending;
};

void start(Communicator& comm, Script& script, std::deque<UnderWay>& calls) {
    Task task = script.next();
    while (task.kind == CollectiveKind::broadcast) task = script.next();
    UnderWay& call = calls.emplace_back();
    call.input = test::elements<std::int32_t>(test::input_of(task, comm.rank()));
    call.expected = test::elements<std::int32_t>(test::output_of(task, comm.rank()));
    call.output.resize(call.expected.size());
    Call what = call::between(task.kind, call.input, call.output, task.op, task.root);
    what.counts = task.counts;
    call.pending = comm.start(what);
}

TEST_P(Sequences, OfCallsInFlight) {
    on_ranks([](Communicator& comm) {
        Communicator other = comm.split(0, -comm.rank());
        Script script(14, comm.nranks());
        Delays delays(comm.rank());
        std::deque<UnderWay> calls;
        for (int i = 0; i < 800; ++i) {
            start(script.number(3) == 0 ? other : comm, script, calls);
            delays.maybe();
            if (script.number(5) == 0) make(comm, script.next(), false);  // overtakes nothing
            if (comm.rank() % 2 == 0) calls.front().pending->test();
            for (auto most = script.number(6); calls.size() > most; calls.pop_front()) {
                calls.front().pending->wait();
                ASSERT_EQ(calls.front().output, calls.front().expected) << "call " << i;
            }
        }
        // What is left is waited for when it goes.
        while (!calls.empty()) {
            UnderWay& call = calls.back();
            call.pending.reset();
            ASSERT_EQ(call.output, call.expected);
            calls.pop_back();
        }
    });
}

TEST_P(Sequences, OfPreparedCalls) {
    on_ranks([](Communicator& comm) {
        std::vector<std::int32_t> a(5), b(600), sum(600);
        Window<std::int32_t> window = comm.window<std::int32_t>(100);
        Prepared small = comm.prepare_allreduce(a);
        Prepared medium = comm.prepare_allreduce(b, sum);
        Prepared on_window = comm.prepare_allreduce(window, ReduceOp::max);
        Prepared from_first = comm.prepare_broadcast(a, 0);
        Delays delays(comm.rank());
        for (int i = 0; i < 300; ++i) {
            const int p = comm.nranks();
            std::fill(a.begin(), a.end(), i + comm.rank());
            std::fill(b.begin(), b.end(), i);
            std::fill(window.span().begin(), window.span().end(), i + comm.rank());
            small.run();
            ASSERT_EQ(a[4], p * i + p * (p - 1) / 2);
            Pending first = medium.start();
            Pending second = on_window.start();
            delays.maybe();
            second.wait();
            ASSERT_EQ(window[99], i + p - 1);
            ASSERT_EQ(sum[599], p * i);  // what was started before is done, too
            first.wait();
            std::fill(a.begin(), a.end(), i + comm.rank());
            from_first.run();
            ASSERT_EQ(a[0], i);
        }
    });
}

// The same line calls in one window and another, some of them behind one address, in turn with a
// call that differs in the window alone.
TEST_P(Sequences, InWindowsThatComeAndGo) {
    on_ranks([](Communicator& comm) {
        const int sum = comm.nranks() * (comm.nranks() - 1) / 2;
        const Window<std::int32_t> stays = comm.window<std::int32_t>(5);
        std::optional<Window<std::int32_t>> changes;
        std::vector<std::byte*> places;
        for (int i = 0; i < 60; ++i) {
            if (i % 3 == 0) {
                Window<std::int32_t> next = comm.window<std::int32_t>(5);
                changes = std::move(next);
            }
            places.push_back(changes->on(0));
            for (const Window<std::int32_t>* window :
                 std::array{&stays, &std::as_const(*changes), &std::as_const(*changes)}) {
                std::fill(window->span().begin(), window->span().end(), i + comm.rank());
                comm.allreduce(*window);
                for (const std::int32_t found : window->span()) {
                    ASSERT_EQ(found, comm.nranks() * i + sum);
                }
            }
        }
        EXPECT_NE(places.front(), places[3]) << "the next window is made before the last one goes";
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Sequences, testing::Values(1, 2, 3, 5));

// Communicators and windows come and go, in another order on each rank.
TEST(ManyCommunicators, ComeAndGo) {
    Communicator::threads(3, [](Communicator& comm) {
        std::deque<Communicator> parts;
        std::deque<Window<std::int32_t>> windows;
        for (int i = 0; i < 30; ++i) {
            parts.push_back(comm.split(i % 2 == 0 ? 0 : comm.rank() % 2, i % 3 * comm.rank()));
            windows.push_back(parts.back().window<std::int32_t>(1 + static_cast<unsigned>(i)));
            windows.back()[0] = 1;
            parts.back().allreduce(windows.back());
            ASSERT_EQ(windows.back()[0], parts.back().nranks());
            if (parts.size() < 4) continue;
            const bool oldest = comm.rank() == 0;
            parts.erase(oldest ? parts.begin() : parts.end() - 1);
            windows.erase(oldest ? windows.begin() : windows.end() - 1);
        }
    });
}

}  // namespace sequences_test
}  // namespace peal::comm
