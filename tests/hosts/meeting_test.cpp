// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "hosts/ranks.hpp"
#include "peal/error.hpp"

namespace peal::test {
namespace meeting_test {

class Meeting : public NeedsSecret {};

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// Until something has happened to another rank.
hosts::Meeting::News next_news(hosts::Meeting& meeting) {
    for (;;) {
        if (auto news = meeting.news()) return *news;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

std::string texts_of(int nranks, int round) {
    std::vector<std::string> texts;
    for (int rank = 0; rank < nranks; ++rank) texts.push_back(fmt::format("{}.{}", rank, round));
    return fmt::format("{}", fmt::join(texts, " "));
}

TEST_F(Meeting, EverybodyGetsEverybodysTextInTheOrderOfTheRanks) {
    for (const Venue::Hub hub : {Venue::Hub::apart, Venue::Hub::with_first_rank}) {
        for (const int nranks : {1, 2, 5, 24}) {
            Venue venue(nranks, hub);
            const auto told = told_by_ranks(nranks, [&](int rank) -> std::string {
                const auto meeting = venue.come(rank);
                for (int round = 0; round < 5; ++round) {
                    const auto texts = meeting->exchange(fmt::format("{}.{}", rank, round));
                    if (fmt::format("{}", fmt::join(texts, " ")) != texts_of(nranks, round)) {
                        return "wrong";
                    }
                    if (meeting->host_of(nranks - 1) != fmt::format("host{}", nranks - 1)) {
                        return "wrong host";
                    }
                }
                meeting->leave();
                return "well";
            });
            EXPECT_THAT(told, Each("well")) << nranks;
        }
    }
}

TEST_F(Meeting, TextsMayBeEmptyOrLong) {
    Venue venue(3);
    const std::string longest(std::size_t{1} << 20, 'x');
    const auto told = told_by_ranks(3, [&](int rank) -> std::string {
        const auto meeting = venue.come(rank);
        const auto texts = meeting->exchange(rank == 1 ? longest : "");
        try {
            meeting->exchange(longest + "x");
        } catch (const Error& error) {
            meeting->leave();
            return fmt::format("{} {}", texts[0].empty() && texts[1] == longest, error.what());
        }
        return "taken";
    });
    EXPECT_THAT(told, Each("true a text of 1048577 bytes is too long to exchange; at most 1048576 "
                           "are taken"));
}

TEST_F(Meeting, OverTheOtherProtocolToo) {
    std::unique_ptr<Venue> venue;
    try {
        venue = std::make_unique<Venue>(2, Venue::Hub::apart, "::1");
    } catch (const Error& error) {
        GTEST_SKIP() << "no IPv6 here: " << error.what();
    }
    EXPECT_THAT(venue->address.text(), MatchesRegex("\\[::1\\]:[0-9]+"));
    const auto told = told_by_ranks(2, [&](int rank) {
        const auto meeting = venue->come(rank);
        const std::string text = meeting->exchange(std::to_string(rank))[1];
        meeting->leave();
        return text;
    });
    EXPECT_THAT(told, Each("1"));
}

// The whole of 127/8 is this machine, so every test process has an address of its own.
TEST_F(Meeting, IsFoundByTheEnvironment) {
    const int id = getpid();
    setenv("PEAL_RENDEZVOUS",
           fmt::format("127.{}.{}.{}:7000", 1 + (id >> 16 & 127), id >> 8 & 255, id & 255).c_str(),
           1);
    setenv("PEAL_SECRET", hosts::new_secret_text().c_str(), 1);
    setenv("PEAL_RANKS", "3", 1);
    const auto told = told_by_ranks(3, [&](int rank) {
        setenv("PEAL_RANK", std::to_string(rank).c_str(), 1);
        setenv("PEAL_HOST", fmt::format("name{}", rank).c_str(), 1);
        const auto meeting = hosts::meet();
        const auto texts = meeting->exchange(std::to_string(rank));
        const bool is_kept = std::getenv("PEAL_SECRET") != nullptr;
        meeting->leave();
        return fmt::format("{} of {} {} {} {}", meeting->rank(), meeting->nranks(),
                           fmt::join(texts, ""), meeting->host_of(2), is_kept);
    });
    for (const char* variable : {"PEAL_RENDEZVOUS", "PEAL_SECRET", "PEAL_RANKS"}) {
        unsetenv(variable);
    }
    EXPECT_THAT(told, ElementsAre("0 of 3 012 name2 false", "1 of 3 012 name2 false",
                                  "2 of 3 012 name2 false"));
}

TEST_F(Meeting, WithoutAPlaceThereIsNone) { EXPECT_EQ(hosts::meet(), nullptr); }

TEST_F(Meeting, ABadEnvironmentIsRefused) {
    const auto refused = [](const std::vector<std::pair<const char*, const char*>>& variables) {
        return told_by_ranks(1, [&](int) -> std::string {
            for (const auto& [name, value] : variables) setenv(name, value, 1);
            hosts::meet();
            return "taken";
        })[0];
    };
    EXPECT_EQ(refused({{"PEAL_RENDEZVOUS", "a:1"}}),
              "error: cannot connect: PEAL_RENDEZVOUS is set, but PEAL_RANKS is not");
    EXPECT_EQ(refused({{"PEAL_RENDEZVOUS", "a:1"}, {"PEAL_RANKS", "0"}}),
              "error: cannot connect: PEAL_RANKS='0': expected a number from 1 to 1024");
    EXPECT_EQ(refused({{"PEAL_RENDEZVOUS", "a:1"}, {"PEAL_RANKS", "2"}, {"PEAL_RANK", "2"}}),
              "error: cannot connect: PEAL_RANK='2': expected a number from 0 to 1");
    for (const char* bad : {"a", "a:", ":1", "a:b", "a:70000", "::1:5", "[]:5", "a:1x"}) {
        EXPECT_EQ(refused({{"PEAL_RENDEZVOUS", bad}, {"PEAL_RANKS", "2"}, {"PEAL_RANK", "1"}}),
                  fmt::format("error: PEAL_RENDEZVOUS='{}': expected a host and a port such as "
                              "node1:7000 or [fd00::1]:7000",
                              bad));
    }
    EXPECT_EQ(refused({{"PEAL_RENDEZVOUS", "a:1"}, {"PEAL_RANKS", "2"}, {"PEAL_RANK", "1"}}),
              "error: cannot connect: PEAL_RENDEZVOUS is set, but PEAL_SECRET is not");
    EXPECT_THAT(refused({{"PEAL_RENDEZVOUS", "127.0.0.1:1"},
                         {"PEAL_RANKS", "2"},
                         {"PEAL_RANK", "0"},
                         {"PEAL_SECRET", "short"},
                         {"PEAL_HUB", "1"}}),
                HasSubstr("the secret of a job (PEAL_SECRET) has 5 letters, expected 32 or more"));
    // An address of no machine (RFC 5737).
    EXPECT_EQ(refused({{"PEAL_RENDEZVOUS", "192.0.2.1:7000"},
                       {"PEAL_RANKS", "2"},
                       {"PEAL_RANK", "0"},
                       {"PEAL_SECRET", "0123456789012345678901234567890123456789"}}),
              "error: cannot listen at 192.0.2.1:7000: Cannot assign requested address");
}

// Whoever is late first tells it to the other, who may have come or may come yet.
TEST_F(Meeting, WhoDoesNotComeIsNamed) {
    for (const Venue::Hub hub : {Venue::Hub::apart, Venue::Hub::with_first_rank}) {
        Venue venue(4, hub);
        venue.timeout = std::chrono::milliseconds(300);
        const auto told = told_by_ranks(4, [&](int rank) -> std::string {
            if (rank == 1 || rank == 3) return "elsewhere";
            venue.come(rank)->exchange("");
            return "met";
        });
        const bool is_apart = hub == Venue::Hub::apart;
        const std::string places =
            is_apart ? "" : "; rank 0 listens at 127.0.0.1:[0-9]+, where no other host reaches it";
        const auto late = [&](int rank, int other) {
            const auto absent = [&](int who) {
                const std::string where = is_apart ? fmt::format(" on host{}", who) : "";
                return fmt::format("rank {}{} has not come", who, where);
            };
            const std::string perhaps = fmt::format("({}, )?", absent(other));
            return fmt::format("timeout: rank {} waited [0-9.]+ s for all 4 ranks: {}{}, {}{}{}",
                               rank, other == 0 ? perhaps : "", absent(1),
                               other == 2 ? perhaps : "", absent(3), rank == 0 ? places : "");
        };
        for (const auto& [rank, other] : {std::pair(0, 2), std::pair(2, 0)}) {
            const std::string nobody =
                "|timeout: rank 2 of 4 waited [0-9.]+ s for an answer from the rendezvous at .*";
            EXPECT_THAT(
                told[static_cast<std::size_t>(rank)],
                MatchesRegex(fmt::format("error: ({}|rank {} on host{} failed: {}; rank {} was to "
                                         "exchange addresses with all ranks{})",
                                         late(rank, other), other, other, late(other, rank), rank,
                                         rank == 2 && !is_apart ? nobody : "")));
        }
    }
}

TEST_F(Meeting, WhoComesAndDoesNotExchangeIsNamed) {
    Venue venue(2);
    venue.timeout = std::chrono::milliseconds(300);
    const auto told = told_by_ranks(2, [&](int rank) -> std::string {
        const auto meeting = venue.come(rank);
        if (rank == 1) return next_news(*meeting).story;
        meeting->exchange("");
        return "met";
    });
    const std::string late =
        "timeout: rank 0 waited [0-9.]+ s for all 2 ranks: rank 1 on host1 has (come and is "
        "elsewhere|not come)";
    EXPECT_THAT(told[0], MatchesRegex("error: " + late));
    EXPECT_THAT(told[1], MatchesRegex("rank 0 on host0 failed: " + late));
}

TEST_F(Meeting, NobodyAtTheRendezvousIsSaid) {
    Venue venue(2, Venue::Hub::with_first_rank);
    venue.timeout = std::chrono::milliseconds(200);
    const hosts::Address address = {"127.0.0.1", 1};  // where nobody listens
    venue.address = address;
    const auto told = told_by_ranks(1, [&](int) -> std::string {
        venue.come(1);
        return "met";
    });
    EXPECT_THAT(told[0],
                MatchesRegex("error: timeout: rank 1 of 2 waited [0-9.]+ s for an answer from the "
                             "rendezvous at 127.0.0.1:1: Connection refused; does rank 0 run "
                             "there, and can it be reached\\?"));
}

// Whatever a rank has got to, the others hear of its end.
TEST_F(Meeting, DeathIsHeardByAllWhereverItHappens) {
    enum Point { come, given, exchanged, in_the_second, points };
    for (const Venue::Hub hub : {Venue::Hub::apart, Venue::Hub::with_first_rank}) {
        for (int point = come; point < points; ++point) {
            for (const int dying : {0, 2}) {
                // A hub that is gone before all have come tells nobody.
                if (hub == Venue::Hub::with_first_rank && point < exchanged) continue;
                Venue venue(3, hub);
                const auto told = told_by_ranks(3, [&](int rank) -> std::string {
                    const auto meeting = venue.come(rank);
                    const auto die_at = [&](Point here) {
                        if (rank == dying && here == point) kill(getpid(), SIGKILL);
                    };
                    const auto die_in_exchange_at = [&](Point here) {
                        if (rank != dying || here != point) return;
                        std::thread([&] { meeting->exchange(""); }).detach();
                        std::this_thread::sleep_for(std::chrono::milliseconds(20));
                        kill(getpid(), SIGKILL);
                    };
                    die_at(come);
                    die_in_exchange_at(given);
                    meeting->exchange("");
                    die_at(exchanged);
                    die_in_exchange_at(in_the_second);
                    for (;;) meeting->exchange("");
                });
                for (int rank = 0; rank < 3; ++rank) {
                    const std::string& text = told[static_cast<std::size_t>(rank)];
                    if (rank == dying) {
                        EXPECT_EQ(text, "died");
                        continue;
                    }
                    // Whoever throws first is gone itself.
                    EXPECT_THAT(text, MatchesRegex(fmt::format(
                                          "error: rank [0-2]( on host[0-2])? died; rank {} was to "
                                          "exchange addresses with all ranks",
                                          rank)));
                }
                const std::string first = fmt::format("rank {}", dying);
                EXPECT_TRUE(told[1].find(first) != std::string::npos ||
                            told[static_cast<std::size_t>(2 - dying)].find(first) !=
                                std::string::npos)
                    << told[1];
            }
        }
    }
}

TEST_F(Meeting, NewsTellsWhoFailedWhoLeftAndWhoDied) {
    for (const Venue::Hub hub : {Venue::Hub::apart, Venue::Hub::with_first_rank}) {
        Venue venue(4, hub);
        const auto told = told_by_ranks(4, [&](int rank) -> std::string {
            const auto meeting = venue.come(rank);
            meeting->exchange("");
            if (rank == 1) {
                meeting->leave();
                return "left";
            }
            std::string heard = next_news(*meeting).story;
            if (rank == 2) {
                meeting->fail("allreduce of 3 f32: no");
                return "failed";
            }
            heard += "; " + next_news(*meeting).story;
            if (rank == 3) kill(getpid(), SIGKILL);
            const hosts::Meeting::News last = next_news(*meeting);
            const bool is_death = last.kind == hosts::Meeting::News::Kind::died && last.rank == 3;
            return fmt::format("{}; {} {}", heard, last.story, is_death);
        });
        EXPECT_THAT(told, ElementsAre("rank 1 on host1 has left; rank 2 on host2 failed: allreduce "
                                      "of 3 f32: no; rank 3 on host3 died true",
                                      "left", "failed", "died"));
    }
}

TEST_F(Meeting, AfterALossNothingIsExchanged) {
    Venue venue(2);
    const auto told = told_by_ranks(2, [&](int rank) -> std::string {
        const auto meeting = venue.come(rank);
        meeting->exchange("");
        if (rank == 1) {
            meeting->leave();
            return "left";
        }
        meeting->exchange("");
        return "exchanged";
    });
    EXPECT_EQ(told[0],
              "error: rank 1 on host1 has left; rank 0 was to exchange addresses with all "
              "ranks");
}

// The hub goes with the process that it is in, and everybody else hears which.
TEST_F(Meeting, TheDeathOfTheHubIsTheDeathOfItsOwner) {
    Venue venue(3, Venue::Hub::with_first_rank);
    int ends[2] = {-1, -1};
    ASSERT_EQ(pipe(ends), 0);
    const auto told = told_by_ranks(3, [&](int rank) -> std::string {
        const auto meeting = venue.come(rank);
        meeting->exchange("");
        char token = 0;
        if (rank == 0) {  // once the others have what they exchanged
            for (int other : {1, 2}) EXPECT_EQ(read(ends[0], &token, 1), 1) << other;
            kill(getpid(), SIGKILL);
        }
        EXPECT_EQ(write(ends[1], &token, 1), 1);
        const hosts::Meeting::News news = next_news(*meeting);
        return fmt::format("{} {}", news.rank, news.story);
    });
    close(ends[0]);
    close(ends[1]);
    EXPECT_THAT(told, ElementsAre("died", "0 rank 0 on host0 died", "0 rank 0 on host0 died"));
}

TEST_F(Meeting, RankZeroStaysUntilAllHaveGone) {
    Venue venue(3, Venue::Hub::with_first_rank);
    const auto told = told_by_ranks(3, [&](int rank) -> std::string {
        const auto meeting = venue.come(rank);
        meeting->exchange("");
        if (rank == 0) {
            meeting->leave();
            return "left";
        }
        std::string heard = next_news(*meeting).story;
        if (rank == 1) kill(getpid(), SIGKILL);
        heard += "; " + next_news(*meeting).story;
        meeting->leave();
        return heard;
    });
    EXPECT_THAT(told,
                ElementsAre("left", "died", "rank 0 on host0 has left; rank 1 on host1 died"));
}

// A process that is stopped is there: its machine answers for it.
TEST_F(Meeting, AStoppedProcessIsNotTakenForDead) {
    Venue venue(2);
    int ends[2] = {-1, -1};
    ASSERT_EQ(pipe(ends), 0);
    const auto told = told_by_ranks(2, [&](int rank) -> std::string {
        const auto meeting = venue.come(rank);
        meeting->exchange("");
        pid_t pid = getpid();
        std::atomic<bool> is_over = false;
        std::thread waker;
        if (rank == 1) {
            EXPECT_EQ(write(ends[1], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
            raise(SIGSTOP);
        } else {
            EXPECT_EQ(read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
            std::this_thread::sleep_for(hosts::kLossTimeout + 2 * hosts::kHeartbeat);
            waker = std::thread([&] {  // it may not have stopped yet
                while (!is_over) {
                    kill(pid, SIGCONT);
                    std::this_thread::sleep_for(hosts::kHeartbeat);
                }
            });
        }
        const std::string text = meeting->exchange("still here")[0];
        is_over = true;
        if (waker.joinable()) waker.join();
        meeting->leave();
        return text;
    });
    close(ends[0]);
    close(ends[1]);
    EXPECT_THAT(told, Each("still here"));
}

}  // namespace meeting_test
}  // namespace peal::test
