// SPDX-License-Identifier: Apache-2.0
// all_to_all_v where each rank knows its own pieces only, and where they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <stdexcept>

#include "comm/attempt.hpp"
#include "comm/outcomes.hpp"

namespace peal::comm {
namespace pieces_test {

using Numbers = std::vector<std::int64_t>;
using test::Ranks;
using test::told;
using test::told_by;
using testing::Each;

// The same on every rank that begins with the same seed.
struct Exchange {
    Exchange(unsigned seed, int nranks, int most) : random(seed), ranks(nranks) {
        for (int pair = 0; pair < nranks * nranks; ++pair) {
            counts.push_back(random() % 4 == 0 ? 0 : static_cast<int>(random() % unsigned(most)));
        }
    }
    std::int64_t count(int from, int to) const {
        return counts[static_cast<std::size_t>(from * ranks + to)];
    }
    Numbers sent_by(int rank) const {
        Numbers list;
        for (int to = 0; to < ranks; ++to) list.push_back(count(rank, to));
        return list;
    }
    Numbers received_by(int rank) const {
        Numbers list;
        for (int from = 0; from < ranks; ++from) list.push_back(count(from, rank));
        return list;
    }
    static std::int32_t value(int from, int to, std::int64_t i) {
        return from * 10000 + to * 1000 + static_cast<std::int32_t>(i % 1000);
    }

    std::mt19937 random;
    int ranks;
    Numbers counts;
};

// Pieces in any order, with gaps before and between them; and how much room they take.
Numbers scattered(const Numbers& counts, std::mt19937& random, std::size_t& room) {
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    Numbers offsets(counts.size());
    std::int64_t at = 0;
    for (const std::size_t peer : order) {
        at += random() % 4;
        offsets[peer] = at;
        at += counts[peer];
    }
    room = static_cast<std::size_t>(at) + random() % 3;
    return offsets;
}

void expect(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
}

constexpr std::int32_t kUntouched = -7;

void fill(std::vector<std::int32_t>& buffer, const Numbers& counts, const Numbers& offsets,
          const std::function<std::int32_t(int peer, std::int64_t i)>& value) {
    for (std::size_t peer = 0; peer < counts.size(); ++peer) {
        for (std::int64_t i = 0; i < counts[peer]; ++i) {
            buffer[static_cast<std::size_t>(offsets[peer] + i)] = value(static_cast<int>(peer), i);
        }
    }
}

// One exchange in the three styles. Ranks differ in whether they say where their pieces are.
void exchange(Communicator& comm, unsigned seed, int most) {
    const int rank = comm.rank();
    const Exchange the(seed, comm.nranks(), most);
    std::mt19937 own(seed * 31 + static_cast<unsigned>(rank));
    const Numbers sent = the.sent_by(rank), received = the.received_by(rank);
    std::size_t given = 0, got = 0;
    Numbers sent_at = scattered(sent, own, given), received_at = scattered(received, own, got);
    const bool is_packed = (seed + static_cast<unsigned>(rank)) % 3 == 0;
    if (is_packed) {
        std::exclusive_scan(sent.begin(), sent.end(), sent_at.begin(), std::int64_t{0});
        std::exclusive_scan(received.begin(), received.end(), received_at.begin(), std::int64_t{0});
    }
    std::vector<std::int32_t> input(given, 0), expected(got, kUntouched);
    fill(input, sent, sent_at, [&](int to, std::int64_t i) { return the.value(rank, to, i); });
    fill(expected, received, received_at,
         [&](int from, std::int64_t i) { return the.value(from, rank, i); });
    const Pieces gives{sent, is_packed ? std::span<const std::int64_t>() : sent_at};
    const Pieces gets{received, is_packed ? std::span<const std::int64_t>() : received_at};
    std::vector<std::int32_t> called(got, kUntouched), started = called, prepared = called;
    comm.all_to_all_v(input, called, gives, gets);
    expect(called == expected, "called");
    comm.start_all_to_all_v(input, started, gives, gets).wait();
    expect(started == expected, "started");
    Prepared often = comm.prepare_all_to_all_v(input, prepared, gives, gets);
    for (int i = 0; i < 3; ++i) often.run();
    expect(prepared == expected, "prepared");
}

class LocalPieces : public testing::TestWithParam<std::tuple<Ranks, int>> {};

TEST_P(LocalPieces, ComeToWhereTheyAreWanted) {
    test::run_ranks(std::get<0>(GetParam()), std::get<1>(GetParam()), [](Communicator& comm) {
        unsigned seed = 0;
        for (const int most : {2, 20, 200, 5000}) {
            for (int i = 0; i < 6; ++i) exchange(comm, ++seed, most);
        }
        exchange(comm, ++seed, 150000);
    });
}

INSTANTIATE_TEST_SUITE_P(All, LocalPieces,
                         testing::Combine(testing::Values(Ranks::threads, Ranks::processes),
                                          testing::Values(1, 2, 3, 5)),
                         [](const auto& info) {
                             const bool threads = std::get<0>(info.param) == Ranks::threads;
                             return fmt::format("{}{}", std::get<1>(info.param),
                                                threads ? "threads" : "processes");
                         });

// All are told, and may go on.
TEST(LocalCounts, ThatDoNotAgreeAreToldToAll) {
    EXPECT_THAT(told(3,
                     [](Communicator& comm) {
                         const Numbers sent = {1, 1, 1};
                         Numbers received = {1, 1, 1};
                         if (comm.rank() == 2) received[0] = 4;
                         std::vector<float> in(3), out(6);
                         const std::string message = told_by(
                             [&] { comm.all_to_all_v(in, out, Pieces{sent}, Pieces{received}); });
                         comm.barrier();
                         throw Error(Fault::usage, message);
                     }),
                Each("all_to_all_v: rank 0 sends 1 elements to rank 2, which expects 4"));
}

// Who has made the same call before is told only whether it is the same again: by all, by one rank
// that has changed its mind with another, by one that prepares, after a call that could not be, and
// of another type.
TEST(LocalCounts, MayChangeOnSomeRanksAfterAnyCall) {
    test::run_ranks(Ranks::threads, 3, [](Communicator& comm) {
        const auto call = [&](auto element, std::int64_t from_0_to_1, bool prepares) {
            using T = decltype(element);
            Numbers sent = {5, 5, 5}, received = {5, 5, 5};
            if (comm.rank() == 0) sent[1] = from_0_to_1;
            if (comm.rank() == 1) received[0] = from_0_to_1;
            std::vector<T> in, out, expected;
            for (int peer = 0; peer < 3; ++peer) {
                const auto to = static_cast<std::size_t>(sent[static_cast<std::size_t>(peer)]);
                const auto from =
                    static_cast<std::size_t>(received[static_cast<std::size_t>(peer)]);
                in.insert(in.end(), to, static_cast<T>(10 * comm.rank() + peer + 1));
                expected.insert(expected.end(), from, static_cast<T>(10 * peer + comm.rank() + 1));
            }
            out.resize(expected.size());
            const Pieces gives{sent}, gets{received};
            if (prepares) {
                comm.prepare_all_to_all_v(in, out, gives, gets).run();
            } else {
                comm.all_to_all_v(in, out, gives, gets);
            }
            expect(out == expected, "what came");
        };
        for (const std::int64_t count : {5, 5, 9, 9, 0, 5, 3000, 3000, 5, 5, 700, 700}) {
            call(float{}, count, false);
            call(float{}, count, comm.rank() == 2);
            call(float{}, count, false);
        }
        call(double{}, 700, false);
        call(std::int8_t{}, 700, false);
        call(std::int8_t{}, 700, false);
        std::vector<std::int8_t> in(18), out(18);
        const Numbers wrong = {5, 5, comm.rank() == 0 ? 6 : 5}, counts = {5, 5, 5};
        const std::string message =
            told_by([&] { comm.all_to_all_v(in, out, Pieces{wrong}, Pieces{counts}); });
        expect(message == "all_to_all_v: rank 0 sends 6 elements to rank 2, which expects 5",
               "what is told");
        call(std::int8_t{}, 700, false);
        call(std::int8_t{}, 700, false);
    });
}

// The calls that two ranks make of each other for exchanges of so many elements each, one after the
// other; a report tells.
std::string calls_for(const std::vector<std::size_t>& exchanges) {
    std::string report;
    std::atomic<bool> has_told = false;
    Communicator::threads(2, [&](Communicator& comm) {
        for (const std::size_t count : exchanges) {
            const Numbers each(2, static_cast<std::int64_t>(count));
            const std::vector<float> in(2 * count, 1.0f);
            std::vector<float> out(2 * count);
            comm.all_to_all_v(in, out, Pieces{each}, Pieces{each});
            expect(out == in, "what came");
        }
        comm.set_timeout(std::chrono::milliseconds(1));
        if (comm.rank() == 1) return has_told.wait(false);
        report = told_by([&] { comm.barrier(); });
        has_told = true;
        has_told.notify_all();
    });
    const std::size_t begin = report.find("in barrier (");
    return report.substr(begin + 12, report.find(')', begin) - begin - 12);
}

TEST(LocalCounts, AreToldInOneCallAndPiecesInAnotherUnlessTheyAreSmall) {
    EXPECT_EQ(calls_for({1, 2, 1, 2, 1, 2}),
              "call 6");  // who has others each time asks nothing first
    EXPECT_EQ(calls_for({1, 1, 1, 1}), "call 4");
    EXPECT_EQ(calls_for({0, 0, 0, 0}), "call 4");
    EXPECT_EQ(calls_for({1, 1, 1, 2, 2, 2}), "call 7");
    EXPECT_EQ(calls_for({300, 300, 300, 300}), "call 6");
    EXPECT_EQ(calls_for({3000, 3000, 3000, 3000}), "call 8");
}

// Small pieces go along with the counts only if all ranks make the call at once.
TEST(LocalCounts, PreparedByOneRankAndCalledByAnother) {
    EXPECT_THAT(told(3,
                     [](Communicator& comm) {
                         const Numbers one = {1, 1, 1};
                         const std::vector<std::int32_t> in(3, comm.rank());
                         std::vector<std::int32_t> out(3, kUntouched);
                         if (comm.rank() == 1) {
                             comm.prepare_all_to_all_v(in, out, Pieces{one}, Pieces{one}).run();
                         } else {
                             comm.all_to_all_v(in, out, Pieces{one}, Pieces{one});
                         }
                         expect(out == std::vector<std::int32_t>{0, 1, 2}, "mixed");
                     }),
                Each(""));
}

TEST(LocalCounts, OfDifferentTypesAreDifferentCalls) {
    const std::vector<std::string> messages = told(2, [](Communicator& comm) {
        const Numbers one = {1, 1};
        std::vector<float> floats(2), got_floats(2);
        std::vector<double> doubles(2), got_doubles(2);
        if (comm.rank() == 0) {
            comm.all_to_all_v(floats, got_floats, Pieces{one}, Pieces{one});
        } else {
            comm.all_to_all_v(doubles, got_doubles, Pieces{one}, Pieces{one});
        }
    });
    EXPECT_THAT(messages, Each(testing::StartsWith("the ranks made different calls:")));
}

// Nobody has called an all_to_all.
TEST(LocalCounts, AreToldOfByTheCallThatTheyAreFor) {
    const std::vector<std::string> messages = told(2, [](Communicator& comm) {
        const Numbers one = {1, 1};
        std::vector<float> in(2), out(2);
        if (comm.rank() == 1) return comm.allreduce(in);
        comm.all_to_all_v(in, out, Pieces{one}, Pieces{one});
    });
    EXPECT_THAT(messages, Each(testing::AllOf(
                              testing::HasSubstr("rank 0: all_to_all_v, counts of each rank's own"),
                              testing::HasSubstr("rank 1: allreduce of 2 f32, sum"))));
}

std::string refusal(const Pieces& sent, const Pieces& received, std::size_t inputs = 4,
                    std::size_t outputs = 4) {
    const std::vector<std::string> messages = told(2, [&](Communicator& comm) {
        std::vector<float> in(inputs), out(outputs);
        const std::string message = told_by([&] { comm.all_to_all_v(in, out, sent, received); });
        comm.barrier();
        throw Error(Fault::usage, message);
    });
    EXPECT_EQ(messages[0], messages[1]);
    return messages[0];
}

TEST(LocalCounts, ThatCannotBeAreRefusedBeforeAnybodyIsTold) {
    const Numbers two = {2, 2}, three = {1, 1, 1}, negative = {2, -2}, none = {};
    const Numbers apart = {0, 2}, overlapping = {0, 1}, outside = {0, 3}, below = {-1, 2};
    EXPECT_EQ(refusal({two}, {two}), "");
    EXPECT_EQ(refusal({three}, {two}),
              "all_to_all_v: counts of what is sent must have 2 entries (one for each of 2 ranks), "
              "found 3");
    EXPECT_EQ(refusal({two}, {none}),
              "all_to_all_v: counts of what is received must have 2 entries (one for each of 2 "
              "ranks), found 0");
    EXPECT_EQ(refusal({negative}, {two}),
              "all_to_all_v: counts of what is sent must not be negative, found -2");
    EXPECT_EQ(refusal({two, three}, {two}),
              "all_to_all_v: offsets of what is sent must have 2 entries (one for each of 2 "
              "ranks), found 3");
    EXPECT_EQ(refusal({two, below}, {two}),
              "all_to_all_v: offsets of what is sent must not be negative, found -1");
    EXPECT_EQ(
        refusal({two}, {two, outside}),
        "all_to_all_v: what is received from rank 1, 2 elements at 3, is not in the buffer of "
        "4 elements");
    EXPECT_EQ(refusal({two}, {two}, 3),
              "all_to_all_v: what is sent to rank 1, 2 elements at 2, is not in the buffer of 3 "
              "elements");
    EXPECT_EQ(refusal({two, overlapping}, {two, apart}), "");  // what is read may overlap
    EXPECT_EQ(refusal({two}, {two, overlapping}),
              "all_to_all_v: what is received from ranks 0 and 1 overlaps");
    EXPECT_EQ(refusal({two}, {two}, 8, 8), "");  // buffers may be larger
}

}  // namespace pieces_test
}  // namespace peal::comm
