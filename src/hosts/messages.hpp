// SPDX-License-Identifier: Apache-2.0
// What is said at a rendezvous, between the hub, which brings the ranks together, and the guests,
// which are the ranks.
//
//   hub     greeting  a name, the version, a nonce
//   guest   claim     version, release, rank, ranks, host, a nonce, and a proof of all this
//   hub     answer    accepted and a proof, or refused and why
//
// From there on all is sealed (secret.hpp), and each message begins with its kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hosts/meeting.hpp"

namespace peal::hosts {

inline constexpr std::uint32_t kWireVersion = 1;
// Of the library, with a digest of the sources that decide what a rank runs (cmake/release.cmake):
// "0.1.0 of sources 5d41402abc4b". Plans of different builds are not compared.
std::string_view release();

// Of strangers; of guests; of hubs, whose answers have a text of each rank.
inline constexpr std::size_t kLongestFromStranger = 1024;
inline constexpr std::size_t kLongestText = std::size_t{1} << 20;
inline constexpr std::size_t kLongestFromGuest = kLongestText + 256;
inline constexpr std::size_t longest_from_hub(int nranks) {
    return static_cast<std::size_t>(nranks) * (kLongestText + 16) + 256;
}

struct Greeting {
    std::uint32_t version = kWireVersion;
    std::string nonce;
};
std::string pack(const Greeting& greeting);
std::optional<Greeting> greeting_from(std::string_view bytes);

struct Claim {
    std::uint32_t version = kWireVersion;
    std::string release;
    int rank = 0;
    int nranks = 0;
    std::string host;
    std::string nonce;
};
std::string pack(const Claim& claim);
std::optional<Claim> claim_from(std::string_view bytes);

// A claim with its proof, and whatever the hub says to it.
std::string pack(std::string_view claim, std::string_view proof);
struct SignedClaim {
    std::string_view claim, proof;
};
std::optional<SignedClaim> signed_claim_from(std::string_view bytes);

struct Answer {
    bool is_accepted = false;
    int owner = -1;    // the rank in whose process the hub is, which ends with it; -1: a launcher's
    std::string text;  // proof, or why not
};
std::string pack(const Answer& answer);
std::optional<Answer> answer_from(std::string_view bytes);

struct Message {
    enum class Kind : std::uint32_t {
        ping,  // is answered
        pong,
        exchange,  // guest: `texts` has one; hub: that of each rank
        hosts,     // hub: `texts` has the host of each rank, when all have come
        who,       // guest: who has not exchanged? hub: `texts` has what it knows
        fail,      // guest: `texts` has the story; hub: all have been told
        leave,     // guest; hub: it may go
        died,
        failed,
        left,
        cut,  // hub: news of `rank`, with the story
    };
    Kind kind = Kind::ping;
    int rank = -1;
    std::vector<std::string> texts;
};
std::string pack(const Message& message);
std::optional<Message> message_from(std::string_view bytes);

Message message_of(const Meeting::News& news);
// Nothing unless it is news.
std::optional<Meeting::News> news_from(const Message& message);

}  // namespace peal::hosts
