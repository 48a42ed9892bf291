// SPDX-License-Identifier: Apache-2.0
// Whoever is at the door of a rendezvous, those who belong there meet.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>

#include "hosts/ranks.hpp"
#include "hosts/text_wire.hpp"
#include "hosts/waiting.hpp"
#include "peal/error.hpp"

namespace peal::test {
namespace attack_test {

class Attack : public NeedsSecret {};

using hosts::pack;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Clock = std::chrono::steady_clock;

constexpr Clock::time_point kNever = Clock::time_point::max();

base::Descriptor connection_to(const Venue& venue) {
    return hosts::connect_to(venue.address, kNever);
}

// The next message as it was sent; "" at the end of the connection.
std::string next_from(int socket) {
    std::string bytes;
    std::size_t wanted = 4;
    while (bytes.size() < wanted) {
        char letter = 0;
        hosts::wait_for(socket, POLLIN, kNever);
        if (recv(socket, &letter, 1, 0) <= 0) return "";
        bytes.push_back(letter);
        if (bytes.size() == 4) wanted += hosts::Unpacker(bytes).number();
    }
    return bytes.substr(4);
}

void say(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        hosts::wait_for(socket, POLLOUT, kNever);
        const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) return;  // it has heard enough
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}
std::string framed(std::string_view message) { return hosts::Packer().text(message).bytes(); }

void expect_ended(int socket) {
    hosts::wait_for(socket, POLLIN, kNever);
    char rest[4096];
    while (recv(socket, rest, sizeof rest, 0) > 0) hosts::wait_for(socket, POLLIN, kNever);
}

void expect_all_meet(Venue& venue, int nranks) {
    const auto told = told_by_ranks(nranks, [&](int rank) {
        const auto meeting = venue.come(rank);
        const std::string text = meeting->exchange(std::to_string(rank)).back();
        meeting->leave();
        return text;
    });
    EXPECT_THAT(told, Each(std::to_string(nranks - 1)));
}

// What a rank says first, with anything about it changed, and what it is told.
struct Told {
    bool is_accepted = false;
    std::string text;
};
Told claim_with(const Venue& venue, const std::function<void(hosts::Claim&)>& change,
                const std::string& secret, std::string* said_before = nullptr) {
    const base::Descriptor socket = connection_to(venue);
    const std::string greeting = next_from(socket.get());
    hosts::Claim claim{hosts::kWireVersion, std::string(hosts::release()), 0, 2, "elsewhere",
                       hosts::new_nonce()};
    change(claim);
    const std::string bytes = pack(claim);
    const std::string message =
        framed(pack(bytes, proof(hosts::Secret(secret), hosts::Role::guest, greeting + bytes)));
    if (said_before) *said_before = message;
    say(socket.get(), message);
    const auto answer = hosts::answer_from(next_from(socket.get()));
    return {answer && answer->is_accepted, answer ? answer->text : ""};
}
constexpr auto kAsItIs = [](hosts::Claim&) {};

TEST_F(Attack, GarbageIsShownTheDoor) {
    Venue venue(3);
    std::mt19937 random(1);
    for (const std::size_t bytes : {1, 3, 4, 5, 100, 5000, 300000}) {
        const base::Descriptor socket = connection_to(venue);
        std::string garbage(bytes, '\0');
        for (char& letter : garbage) letter = static_cast<char>(random());
        say(socket.get(), garbage);
        shutdown(socket.get(), SHUT_WR);
        expect_ended(socket.get());
    }
    const std::string requests[] = {
        "GET / HTTP/1.1\r\n\r\n",         framed(""),         framed("x"),
        framed(std::string(100000, 'x')), framed(framed("")), std::string(4, '\xff')};
    for (const std::string& request : requests) {
        const base::Descriptor socket = connection_to(venue);
        say(socket.get(), request);
        shutdown(socket.get(), SHUT_WR);
        expect_ended(socket.get());
    }
    expect_all_meet(venue, 3);
}

TEST_F(Attack, ThousandsWhoSayNothingOrLittleKeepNobodyOut) {
    Venue venue(4);
    std::vector<base::Descriptor> idle;
    for (int i = 0; i < 300; ++i) {
        idle.push_back(connection_to(venue));
        if (i % 3 == 1) say(idle.back().get(), std::string("\x50\x00", 2));  // and no more
        if (i % 3 == 2) shutdown(idle.back().get(), SHUT_WR);
    }
    expect_all_meet(venue, 4);
}

// One says nothing; what the other says never comes to an end, though it is never silent for long.
TEST_F(Attack, WhoIsSlowIsSentAway) {
    Venue venue(2);
    const base::Descriptor silent = connection_to(venue), trickling = connection_to(venue);
    EXPECT_TRUE(hosts::greeting_from(next_from(silent.get())));
    EXPECT_TRUE(hosts::greeting_from(next_from(trickling.get())));
    const std::string claim = framed(std::string(1000, 'x'));
    for (const char letter : claim) {
        if (hosts::wait_for(trickling.get(), POLLIN,
                            Clock::now() + std::chrono::milliseconds(50))) {
            break;
        }
        say(trickling.get(), {&letter, 1});
    }
    expect_ended(trickling.get());
    expect_ended(silent.get());
    expect_all_meet(venue, 2);
}

// Of this process.
std::vector<std::string> addresses_that_listen() {
    std::vector<std::string> addresses;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int socket = std::stoi(entry.path().filename());
        int listens = 0;
        socklen_t bytes = sizeof listens;
        if (getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens != 0) {
            addresses.push_back(hosts::address_of(socket).text());
        }
    }
    return addresses;
}

TEST_F(Attack, NothingListensWhereItWasNotTold) {
    const auto by_environment = told_by_ranks(1, [](int) -> std::string {
        setenv("PEAL_RENDEZVOUS", "127.0.0.1:0", 1);
        setenv("PEAL_RANK", "0", 1);
        setenv("PEAL_RANKS", "1", 1);
        setenv("PEAL_SECRET", hosts::new_secret_text().c_str(), 1);
        const auto meeting = hosts::meet();
        meeting->exchange("");
        const std::string listening = fmt::format("{}", fmt::join(addresses_that_listen(), " "));
        meeting->leave();
        return listening;
    });
    EXPECT_THAT(by_environment, ElementsAre(MatchesRegex("127.0.0.1:[0-9]+")));
    Venue venue(2, Venue::Hub::with_first_rank);
    const auto told = told_by_ranks(2, [&](int rank) {
        const auto meeting = venue.come(rank);
        meeting->exchange("");
        const std::string listening = fmt::format("{}", fmt::join(addresses_that_listen(), " "));
        meeting->leave();
        return listening;
    });
    EXPECT_THAT(told, ElementsAre(venue.address.text(), ""));
}

TEST_F(Attack, WhoDoesNotKnowTheSecretIsRefused) {
    Venue venue(2);
    const Told told = claim_with(venue, kAsItIs, hosts::new_secret_text());
    EXPECT_FALSE(told.is_accepted);
    EXPECT_EQ(told.text,
              "rank 0 does not know the job's secret; PEAL_SECRET must be the same for all ranks");
    const auto by_rank = told_by_ranks(1, [&](int) -> std::string {
        venue.secret = hosts::new_secret_text();
        venue.come(1);
        return "came";
    });
    EXPECT_EQ(by_rank[0], fmt::format("error: cannot connect: the rendezvous at {} refused: rank 1 "
                                      "does not know the job's secret; PEAL_SECRET must be the "
                                      "same for all ranks",
                                      venue.address.text()));
    expect_all_meet(venue, 2);
}

TEST_F(Attack, WhatAnotherSaidIsNoProof) {
    Venue venue(2);
    std::string overheard;
    EXPECT_TRUE(claim_with(venue, kAsItIs, venue.secret, &overheard).is_accepted);
    const base::Descriptor socket = connection_to(venue);
    next_from(socket.get());
    say(socket.get(), overheard);
    const auto answer = hosts::answer_from(next_from(socket.get()));
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->is_accepted);
    EXPECT_THAT(answer->text, HasSubstr("does not know the job's secret"));
}

// What rank 1 on host "elsewhere" of a job of 3 says that does not fit, and what is said of it.
struct Misfit {
    std::function<void(hosts::Claim&)> change;
    std::string story;
};
std::vector<Misfit> misfits() {
    const auto other_peal = [](std::string_view release, int version) {
        return fmt::format(
            "rank 1 on elsewhere is Peal {} (rendezvous {}), and the others Peal {} (rendezvous "
            "1); build Peal from the same sources for all ranks",
            release, version, hosts::release());
    };
    const auto of_four = [](int rank) {
        return fmt::format(
            "rank {} on elsewhere expects 4 ranks, and the others 3; PEAL_RANKS "
            "must be the same for all",
            rank);
    };
    // The same release, of sources that somebody has edited.
    std::string edited(hosts::release());
    edited.replace(edited.size() - 4, 4, "none");
    return {
        {[](hosts::Claim& claim) { claim.release = "9.9"; }, other_peal("9.9", 1)},
        {[edited](hosts::Claim& claim) { claim.release = edited; }, other_peal(edited, 1)},
        {[](hosts::Claim& claim) { claim.version = 2; }, other_peal(hosts::release(), 2)},
        {[](hosts::Claim& claim) { claim.nranks = 4; }, of_four(1)},
        {[](hosts::Claim& claim) { claim.nranks = 4, claim.rank = 3; }, of_four(3)},
        {[](hosts::Claim& claim) { claim.nranks = 4, claim.rank = 0; }, of_four(0)},
    };
}

Told come_as(const Misfit& misfit, const Venue& venue, const std::string& secret) {
    const auto change = [&](hosts::Claim& claim) {
        claim.rank = 1;
        claim.nranks = 3;
        misfit.change(claim);
    };
    return claim_with(venue, change, secret);
}

// The others would wait for it in vain.
TEST_F(Attack, WhoDoesNotFitIsTheEndForAll) {
    for (const Venue::Hub hub : {Venue::Hub::apart, Venue::Hub::with_first_rank}) {
        for (const Misfit& misfit : misfits()) {
            Venue venue(3, hub);
            int ends[2] = {-1, -1};
            ASSERT_EQ(pipe(ends), 0);
            const auto told = told_by_ranks(3, [&](int rank) -> std::string {
                char token = 0;
                if (rank == 1) {  // the hub that rank 0 has ends with it, so first all are there
                    for (int other = 0; hub == Venue::Hub::with_first_rank && other < 2; ++other) {
                        EXPECT_EQ(read(ends[0], &token, 1), 1);
                    }
                    return come_as(misfit, venue, venue.secret).text;
                }
                const auto meeting = venue.come(rank);
                EXPECT_EQ(write(ends[1], &token, 1), 1);
                meeting->exchange("");
                return "met";
            });
            close(ends[0]);
            close(ends[1]);
            const auto error = [&](int rank) {
                return fmt::format("error: {}; rank {} was to exchange addresses with all ranks",
                                   misfit.story, rank);
            };
            EXPECT_THAT(told, ElementsAre(error(0), misfit.story, error(2)));
        }
    }
}

TEST_F(Attack, WhoDoesNotKnowTheSecretEndsNothing) {
    Venue venue(3);
    for (const Misfit& misfit : misfits()) {
        EXPECT_FALSE(come_as(misfit, venue, hosts::new_secret_text()).is_accepted);
    }
    expect_all_meet(venue, 3);
}

TEST_F(Attack, ARankThatIsNoneIsRefused) {
    Venue venue(2);
    for (const int rank : {2, -1}) {
        const auto none = [&](hosts::Claim& claim) { claim.rank = rank; };
        EXPECT_EQ(claim_with(venue, none, venue.secret).text,
                  fmt::format("rank {} on elsewhere: expected a rank from 0 to 1", rank));
    }
    expect_all_meet(venue, 2);
}

TEST_F(Attack, ARankIsTakenOnce) {
    Venue venue(2);
    const auto told = told_by_ranks(1, [&](int) {
        const auto meeting = venue.come(1);
        const auto as_one = [](hosts::Claim& claim) { claim.rank = 1; };
        std::string text = claim_with(venue, as_one, venue.secret).text;
        meeting->leave();
        return text;
    });
    EXPECT_EQ(told[0], "rank 1 on elsewhere is taken: a process on host1 came first");
}

// One who knows the secret and then says nonsense is dead for the others, and no more.
TEST_F(Attack, AGuestThatTalksNonsenseHarmsItselfOnly) {
    Venue venue(2);
    int ends[2] = {-1, -1};
    ASSERT_EQ(pipe(ends), 0);
    const auto told = told_by_ranks(2, [&](int rank) -> std::string {
        char token = 0;
        if (rank == 0) {
            const auto meeting = venue.come(0);
            EXPECT_EQ(write(ends[1], &token, 1), 1);
            meeting->exchange("");
            return "met";
        }
        EXPECT_EQ(read(ends[0], &token, 1), 1);
        const base::Descriptor socket = connection_to(venue);
        const std::string greeting = next_from(socket.get());
        const std::string claim = pack(hosts::Claim{
            hosts::kWireVersion, std::string(hosts::release()), 1, 2, "odd", hosts::new_nonce()});
        say(socket.get(), framed(pack(claim, proof(hosts::Secret(venue.secret), hosts::Role::guest,
                                                   greeting + claim))));
        say(socket.get(), framed("nonsense that nobody has sealed"));
        expect_ended(socket.get());
        return "ended";
    });
    close(ends[0]);
    close(ends[1]);
    EXPECT_THAT(told, ElementsAre("error: rank 1 on odd died; rank 0 was to exchange "
                                  "addresses with all ranks",
                                  "ended"));
}

// What rank 1 says of somebody who listens in place of a hub and answers like this; `{}` is the
// address.
void expect_of_false_hub(const std::function<void(int socket)>& answer,
                         fmt::format_string<std::string> expected) {
    hosts::Address address{"127.0.0.1", 0};
    const base::Descriptor listener = hosts::listen_at(address);
    Venue venue(2, Venue::Hub::with_first_rank);
    venue.address = address;
    const auto told = told_by_ranks(2, [&](int rank) -> std::string {
        if (rank == 1) {
            venue.come(1);
            return "came";
        }
        hosts::wait_for(listener.get(), POLLIN, kNever);
        const base::Descriptor socket(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK));
        answer(socket.get());
        expect_ended(socket.get());
        return "answered";
    });
    EXPECT_EQ(told[1], fmt::format(expected, address.text()));
}

// Somebody else who listens there gets no rank.
TEST_F(Attack, AHubThatDoesNotKnowTheSecretIsNotBelieved) {
    expect_of_false_hub(
        [](int socket) {
            say(socket, framed(pack(hosts::Greeting{hosts::kWireVersion, hosts::new_nonce()})));
            const std::string claim = next_from(socket);
            say(socket, framed(pack(hosts::Answer{true, 0, std::string(32, 'p')})));
        },
        "error: cannot connect: who answers at {} does not know the job's secret");
}

TEST_F(Attack, SomethingElseAtTheAddressIsNamed) {
    expect_of_false_hub([](int socket) { say(socket, framed("220 mail ready")); },
                        "error: cannot connect: what answers at {} is no rendezvous of Peal");
}

}  // namespace attack_test
}  // namespace peal::test
