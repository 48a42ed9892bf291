// SPDX-License-Identifier: Apache-2.0
// Messages arrive as they were sent: of every type and length, in order, whatever else is under
// way.
#include <gtest/gtest.h>

#include <deque>
#include <numeric>
#include <random>
#include <tuple>

#include "comm/attempt.hpp"
#include "comm/channels.hpp"

namespace peal::comm {
namespace messages_test {

using test::Ranks;

// What a message holds: by who sends it, which it is, and where.
template <class T>
std::vector<T> content(int from, std::size_t number, std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t mixed = 31 * static_cast<std::size_t>(from) + 7 * number + i;
        values[i] = test::element<T>(static_cast<std::int64_t>(mixed % 101));
    }
    return values;
}

template <class T>
void expect(const std::vector<T>& found, int from, std::size_t number) {
    if (found == content<T>(from, number, found.size())) return;
    throw std::runtime_error(fmt::format("message {} of {} {} from rank {} is wrong", number,
                                         found.size(), name(element_of<T>), from));
}

class Messages : public testing::TestWithParam<std::tuple<Ranks, int>> {
protected:
    static void on_ranks(const std::function<void(Communicator&)>& body) {
        test::run_ranks(std::get<0>(GetParam()), std::get<1>(GetParam()), body);
    }
};

template <class T>
void pass_around(Communicator& comm, std::size_t count) {
    const int right = (comm.rank() + 1) % comm.nranks();
    const int left = (comm.rank() + comm.nranks() - 1) % comm.nranks();
    const std::vector<T> mine = content<T>(comm.rank(), count, count);
    std::vector<T> theirs(count);
    comm.sendrecv(mine, right, theirs, left);
    expect(theirs, left, count);
    if (mine != content<T>(comm.rank(), count, count)) throw std::runtime_error("was written to");
}

TEST_P(Messages, OfEveryTypeAndLength) {
    on_ranks([](Communicator& comm) {
        for (const std::size_t count : {0, 1, 5, 6, 12, 13, 64, 128, 300, 1000, 5000}) {
            pass_around<f16>(comm, count);
            pass_around<bf16>(comm, count);
            pass_around<float>(comm, count);
            pass_around<double>(comm, count);
            pass_around<std::int8_t>(comm, count);
            pass_around<std::uint8_t>(comm, count);
            pass_around<std::int16_t>(comm, count);
            pass_around<std::uint16_t>(comm, count);
            pass_around<std::int32_t>(comm, count);
            pass_around<std::uint32_t>(comm, count);
            pass_around<std::int64_t>(comm, count);
            pass_around<std::uint64_t>(comm, count);
        }
    });
}

// Lengths around those at which another recipe is taken, and a large one that is reached.
TEST_P(Messages, OfLargeSizes) {
    on_ranks([](Communicator& comm) {
        for (const std::size_t bytes :
             {1024, 1028, 16 << 10, 40004, 64 << 10, 128 << 10, 512 << 10, (512 << 10) + 4,
              700 << 10, 1536 << 10, (1536 << 10) + 4, 3 << 20}) {
            pass_around<std::int32_t>(comm, bytes / 4);
        }
    });
}

// Rank 0 sends a stream of messages to all others: more than are kept for the receiver, of sizes
// that take every kind of memory, while each of the others answers some.
TEST_P(Messages, ArriveInTheirOrder) {
    constexpr std::size_t kMessages = 100;
    const auto count = [](std::size_t i) { return i * i % 97 * (i % 10 == 0 ? 500 : 3); };
    on_ranks([&](Communicator& comm) {
        for (std::size_t i = 0; i < kMessages; ++i) {
            if (comm.rank() == 0) {
                const std::vector<float> message = content<float>(0, i, count(i));
                for (int peer = 1; peer < comm.nranks(); ++peer) comm.send(message, peer);
                for (int peer = 1; peer < comm.nranks() && i % 7 == 0; ++peer) {
                    std::vector<std::uint8_t> answer(i);
                    comm.recv(answer, peer);
                    expect(answer, peer, i);
                }
            } else {
                std::vector<float> message(count(i));
                comm.recv(message, 0);
                expect(message, 0, i);
                if (i % 7 == 0) comm.send(content<std::uint8_t>(comm.rank(), i, i), 0);
            }
        }
    });
}

// More buffers than a channel remembers, and one whose length changes.
TEST_P(Messages, OfSeveralBuffersInTurn) {
    on_ranks([](Communicator& comm) {
        const int right = (comm.rank() + 1) % comm.nranks();
        const int left = (comm.rank() + comm.nranks() - 1) % comm.nranks();
        std::vector<std::vector<float>> sent(7, std::vector<float>(9)), received = sent;
        for (std::size_t round = 0; round < 4; ++round) {
            for (std::size_t i = 0; i < sent.size(); ++i) {
                const std::size_t count = i == 3 ? 9 - round : 9;
                sent[i] = content<float>(comm.rank(), round + i, count);
                received[i].resize(count);
                comm.sendrecv(sent[i], right, received[i], left);
                expect(received[i], left, round + i);
            }
            comm.exchange({{left, sent[0], received[0]}, {right, sent[1], received[1]}});
            const bool is_pair = comm.nranks() == 2;  // then both come from the same rank, in order
            expect(received[0], left, round + (is_pair ? 0 : 1));
            expect(received[1], right, round + (is_pair ? 1 : 0));
        }
    });
}

// What is small is kept: everybody sends first.
TEST_P(Messages, SmallOnesAreKeptForTheReceiver) {
    on_ranks([](Communicator& comm) {
        const auto for_each_peer = [&](const auto& act) {
            for (int peer = 0; peer < comm.nranks(); ++peer) {
                if (peer != comm.rank()) act(peer);
            }
        };
        for (const std::size_t count : {0, 1, 100}) {
            for_each_peer([&](int peer) {
                for (std::size_t i = 0; i < 5; ++i) {
                    comm.send(content<double>(comm.rank(), i, count), peer);
                }
            });
            for_each_peer([&](int peer) {
                for (std::size_t i = 0; i < 5; ++i) {
                    std::vector<double> message(count);
                    comm.recv(message, peer);
                    expect(message, peer, i);
                }
            });
        }
    });
}

// Everybody sends first, as much as is kept.
TEST_P(Messages, AsManyAreKeptAsIsSaid) {
    on_ranks([](Communicator& comm) {
        constexpr std::size_t kLongest = (512 << 10) / sizeof(float);
        const int right = (comm.rank() + 1) % comm.nranks();
        const int left = (comm.rank() + comm.nranks() - 1) % comm.nranks();
        for (const auto& [kept, count] : {std::pair(4UL, kLongest), std::pair(4UL, kLongest - 17),
                                          std::pair(31UL, 15000UL), std::pair(31UL, 2UL)}) {
            Communicator fresh = comm.split(0);
            for (std::size_t i = 0; i < kept; ++i) {
                fresh.send(content<float>(fresh.rank(), i, count), right);
            }
            for (std::size_t i = 0; i < kept; ++i) {
                std::vector<float> message(count);
                fresh.recv(message, left);
                expect(message, left, i);
            }
        }
    });
}

// Also where all of those have been received: its receiver has not said so.
TEST_P(Messages, TheNextOneWaitsForItsReceiver) {
    constexpr std::size_t kLongest = (512 << 10) / sizeof(float);
    for (const auto& [kept, count] : {std::pair(4UL, kLongest), std::pair(31UL, 2UL)}) {
        on_ranks([kept = kept, count = count](Communicator& comm) {
            const int right = (comm.rank() + 1) % comm.nranks();
            const int left = (comm.rank() + comm.nranks() - 1) % comm.nranks();
            std::vector<float> message(count);
            for (std::size_t i = 0; i < kept; ++i) comm.send(message, right);
            for (std::size_t i = 0; i < kept; ++i) comm.recv(message, left);
            try {
                comm.send(message, right);
            } catch (const Error& error) {
                const std::string_view what = error.what();
                if (what.find("deadlock: no rank can go on") != what.npos) return;
                throw;
            }
            throw std::runtime_error("it was kept");
        });
    }
}

// Everybody begins to receive, then to send, and waits in any order.
TEST_P(Messages, StartedOnesDoNotWaitForEachOther) {
    on_ranks([](Communicator& comm) {
        for (const std::size_t count : {1, 2000, 300000}) {
            std::deque<std::vector<float>> sent, received;
            std::deque<Pending> pending;
            std::vector<int> peers;
            for (int peer = 0; peer < comm.nranks(); ++peer) {
                if (peer != comm.rank()) peers.push_back(peer);
            }
            for (const int peer : peers) {
                pending.push_back(comm.start_recv(received.emplace_back(count), peer));
            }
            for (const int peer : peers) {
                sent.push_back(content<float>(comm.rank(), count, count));
                pending.push_back(comm.start_send(sent.back(), peer));
            }
            if (comm.rank() % 2 == 1) std::reverse(pending.begin(), pending.end());
            while (comm.rank() == 0 && !pending.back().test()) {
            }
            for (Pending& one : pending) one.wait();
            for (std::size_t i = 0; i < peers.size(); ++i) expect(received[i], peers[i], count);
        }
    });
}

// A message that is large enough to need its receiver, who is in a collective meanwhile.
TEST_P(Messages, GoOnInCollectives) {
    on_ranks([](Communicator& comm) {
        constexpr std::size_t kCount = 200000;
        std::vector<float> message(kCount);
        if (comm.rank() == 0) {
            const Pending pending = comm.start_recv(message, 1);
            comm.barrier();
        } else if (comm.rank() == 1) {
            message = content<float>(1, 0, kCount);
            comm.send(message, 0);
            comm.barrier();
        } else {
            comm.barrier();
        }
        if (comm.rank() < 2) expect(message, 1, 0);
    });
}

TEST_P(Messages, CollectivesGoOnInThem) {
    on_ranks([](Communicator& comm) {
        std::vector<int> sum(50000, comm.rank());
        Pending pending = comm.start_allreduce(sum);
        int token = comm.rank();
        if (comm.rank() == 0) {
            comm.recv(token, 1);
        } else {
            pending.wait();
            if (comm.rank() == 1) comm.send(token, 0);
        }
        pending.wait();
        const int expected = comm.nranks() * (comm.nranks() - 1) / 2;
        if (token != std::max(1, comm.rank()) || sum[49999] != expected) {
            throw std::runtime_error("wrong");
        }
    });
}

// And in the meetings of windows and parts.
TEST_P(Messages, GoOnWhereAllMeet) {
    on_ranks([](Communicator& comm) {
        std::vector<std::int64_t> message(100000);
        Pending pending = comm.start_recv(message, (comm.rank() + 1) % comm.nranks());
        const int left = (comm.rank() + comm.nranks() - 1) % comm.nranks();
        if (comm.rank() % 2 == 0) comm.send(content<std::int64_t>(comm.rank(), 3, 100000), left);
        const Window<float> window = comm.window<float>(10);
        Communicator part = comm.split(0);
        if (comm.rank() % 2 == 1) comm.send(content<std::int64_t>(comm.rank(), 3, 100000), left);
        pending.wait();
        expect(message, (comm.rank() + 1) % comm.nranks(), 3);
    });
}

TEST_P(Messages, OfPartsAreTheirOwn) {
    on_ranks([](Communicator& comm) {
        Communicator turned = comm.split(0, -comm.rank());  // the ranks in the opposite order
        const int last = comm.nranks() - 1;
        std::vector<float> first(10), second(10);
        if (comm.rank() == 0) {
            turned.send(content<float>(0, 1, 10), 0);  // to the last
            comm.send(content<float>(0, 2, 10), last);
        } else if (comm.rank() == last) {
            comm.recv(second, 0);
            turned.recv(first, last);
            expect(first, 0, 1);
            expect(second, 0, 2);
        }
    });
}

// ---------------------------------------------------------------------------- neighbours

TEST_P(Messages, AreExchangedWithAllNeighbours) {
    on_ranks([](Communicator& comm) {
        for (const std::size_t count : {0, 3, 1000, 100000}) {
            std::deque<std::vector<float>> sent;
            std::deque<std::vector<std::int16_t>> more;
            std::deque<std::vector<float>> received;
            std::deque<std::vector<std::int16_t>> more_received;
            std::vector<Neighbour> neighbours;
            for (int peer = 0; peer < comm.nranks(); ++peer) {
                if (peer == comm.rank()) continue;
                sent.push_back(content<float>(comm.rank(), 1, count));
                neighbours.push_back({peer, sent.back(), received.emplace_back(count)});
                more.push_back(content<std::int16_t>(comm.rank(), 2, 7));
                neighbours.push_back({peer, more.back(), more_received.emplace_back(7)});
            }
            if (count == 3) {
                Pending pending = comm.start_exchange(neighbours);
                while (!pending.test()) {
                }
            } else {
                comm.exchange(neighbours);
            }
            for (std::size_t i = 0; i < received.size(); ++i) {
                expect(received[i], neighbours[2 * i].rank, 1);
                expect(more_received[i], neighbours[2 * i].rank, 2);
            }
        }
    });
}

// A line: those at the ends have one neighbour, and a rank alone has none.
TEST_P(Messages, AreExchangedAlongALine) {
    on_ranks([](Communicator& comm) {
        double left = -1, right = -1;
        const double mine = comm.rank();
        std::vector<Neighbour> neighbours;
        if (comm.rank() > 0) neighbours.push_back({comm.rank() - 1, mine, left});
        if (comm.rank() + 1 < comm.nranks()) neighbours.push_back({comm.rank() + 1, mine, right});
        comm.exchange(neighbours);
        comm.exchange({});
        const bool is_last = comm.rank() + 1 == comm.nranks();
        if (left != mine - 1 || right != (is_last ? -1 : mine + 1)) {
            throw std::runtime_error("wrong neighbours");
        }
    });
}

// ---------------------------------------------------------------------------- random graphs

// One step of a program that all ranks go through: a message, or a collective.
struct Step {
    int from = -1, to = -1;  // -1: a collective
    std::size_t count = 0;
    bool is_started = false;
    bool all_end = false;  // all that was started is waited for
};

std::vector<Step> steps_of(unsigned seed, int nranks) {
    constexpr std::size_t kCounts[] = {0, 1, 3, 12, 13, 100, 200, 1000, 5000, 33000, 150000};
    std::mt19937 random(seed);
    const auto below = [&](std::size_t bound) {
        return static_cast<std::size_t>(random()) % bound;
    };
    std::vector<Step> steps;
    for (int i = 0; i < 150; ++i) {
        Step step{.count = kCounts[below(below(4) == 0 ? std::size(kCounts) : 8)],
                  .is_started = below(2) == 0,
                  .all_end = below(12) == 0};
        if (below(5) != 0) {
            step.from = static_cast<int>(below(static_cast<std::size_t>(nranks)));
            step.to = static_cast<int>(below(static_cast<std::size_t>(nranks - 1)));
            if (step.to >= step.from) ++step.to;
        }
        steps.push_back(step);
    }
    return steps;
}

class Walk {
public:
    Walk(Communicator& comm, const std::vector<Step>& steps) : comm_(comm), steps_(steps) {}

    void go() {
        for (number_ = 0; number_ < steps_.size(); ++number_) {
            const Step& step = steps_[number_];
            if (step.from < 0) {
                sum(step);
            } else if (step.from == comm_.rank()) {
                std::vector<float>& buffer =
                    buffers_.emplace_back(content<float>(step.from, number_, step.count));
                if (step.is_started) {
                    pending_.push_back(comm_.start_send(buffer, step.to));
                } else {
                    comm_.send(buffer, step.to);
                }
            } else if (step.to == comm_.rank()) {
                receive(step);
            }
            if (step.all_end) end();
        }
        end();
    }

private:
    struct Expected {
        std::vector<float>* buffer;
        int from;  // -1: a sum
        std::size_t number;
    };

    void receive(const Step& step) {
        std::vector<float>& buffer = buffers_.emplace_back(step.count);
        expected_.push_back({&buffer, step.from, number_});
        if (step.is_started) {
            pending_.push_back(comm_.start_recv(buffer, step.from));
        } else {
            comm_.recv(buffer, step.from);
            expect(buffer, step.from, number_);
        }
    }
    void sum(const Step& step) {
        std::vector<float>& buffer =
            buffers_.emplace_back(step.count, static_cast<float>(comm_.rank() + 1));
        expected_.push_back({&buffer, -1, number_});
        if (step.is_started) {
            pending_.push_back(comm_.start_allreduce(buffer));
        } else {
            comm_.allreduce(buffer);
        }
    }
    void end() {
        while (!pending_.empty()) {  // in an order that differs between ranks
            Pending& one = comm_.rank() % 2 == 0 ? pending_.front() : pending_.back();
            one.wait();
            comm_.rank() % 2 == 0 ? pending_.pop_front() : pending_.pop_back();
        }
        const auto total = static_cast<float>(comm_.nranks() * (comm_.nranks() + 1) / 2);
        for (const Expected& one : expected_) {
            if (one.from >= 0) {
                expect(*one.buffer, one.from, one.number);
            } else if (*one.buffer != std::vector<float>(one.buffer->size(), total)) {
                throw std::runtime_error(fmt::format("the sum in step {} is wrong", one.number));
            }
        }
        expected_.clear();
        buffers_.clear();
    }

    Communicator& comm_;
    const std::vector<Step>& steps_;
    std::size_t number_ = 0;
    std::deque<std::vector<float>> buffers_;
    std::deque<Pending> pending_;
    std::vector<Expected> expected_;
};

TEST_P(Messages, OfRandomGraphsBetweenCollectives) {
    const int nranks = std::get<1>(GetParam());
    for (unsigned seed = 1; seed <= 6; ++seed) {
        const std::vector<Step> steps = steps_of(seed, nranks);
        SCOPED_TRACE(seed);
        on_ranks([&](Communicator& comm) { Walk(comm, steps).go(); });
    }
}

INSTANTIATE_TEST_SUITE_P(, Messages,
                         testing::Combine(testing::Values(Ranks::threads, Ranks::processes),
                                          testing::Values(2, 3, 5)),
                         [](const auto& the) {
                             return std::to_string(std::get<1>(the.param)) +
                                    (std::get<0>(the.param) == Ranks::threads ? "threads"
                                                                              : "processes");
                         });

// ---------------------------------------------------------------------------- memory

// Pairs are made by whoever comes first, and nothing of them stays: all of them together would not
// fit into the machine's memory.
TEST(MessageMemory, IsGivenBack) {
    Communicator::threads(3, [](Communicator& comm) {
        for (int round = 0; round < 300; ++round) {
            Communicator part = comm.split(0);
            const int right = (comm.rank() + 1) % 3, left = (comm.rank() + 2) % 3;
            int token = 0;
            if ((round + comm.rank()) % 3 == 0) part.send(comm.rank(), right);
            if ((round + left) % 3 == 0) part.recv(token, left);
            EXPECT_EQ(token, (round + left) % 3 == 0 ? left : 0);
        }
    });
}

}  // namespace messages_test
}  // namespace peal::comm
