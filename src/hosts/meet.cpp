// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "hosts/guest.hpp"
#include "hosts/meeting.hpp"
#include "hosts/pmix.hpp"
#include "hosts/variables.hpp"
#include "peal/error.hpp"
#include "peal/limits.hpp"
#include "shm/membership.hpp"
#include "shm/timeout.hpp"

namespace peal::hosts {
namespace {

using std::chrono::milliseconds;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(Fault::usage, fmt::format("cannot connect: {}", why));
}

std::string needed(const char* variable) {
    const char* const text = std::getenv(variable);
    if (text == nullptr)
        refuse(fmt::format("{} is set, but {} is not", kRendezvousVariable, variable));
    return text;
}

int number_in(const char* variable, int least, int most) {
    const std::string text = needed(variable);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least ||
        number > most) {
        refuse(
            fmt::format("{}='{}': expected a number from {} to {}", variable, text, least, most));
    }
    return number;
}

std::string name_of_this_host() {
    if (const char* const name = std::getenv(kHostVariable)) return name;
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

Invitation invitation_from_environment() {
    Invitation invitation;
    invitation.nranks = number_in(kRanksVariable, 1, kMaxRanks);
    invitation.rank = number_in(shm::kRankVariable, 0, invitation.nranks - 1);
    invitation.address = address_from(needed(kRendezvousVariable), kRendezvousVariable);
    invitation.secret = needed(kSecretVariable);
    return invitation;
}

// Without a launcher the first rank is the hub, and listens where it was told to.
std::unique_ptr<Meeting> come(Invitation invitation, base::Descriptor listener) {
    invitation.host = name_of_this_host();
    invitation.to_meet = shm::timeout_or(kToMeet);
    invitation.to_go_on = shm::timeout_or(milliseconds(0));
    std::unique_ptr<Rendezvous> hub;
    if (listener) {
        hub =
            std::make_unique<Rendezvous>(std::move(listener), Secret(invitation.secret),
                                         Rendezvous::Party{invitation.nranks, invitation.rank, {}});
    }
    return std::make_unique<Guest>(std::move(invitation), std::move(hub));
}

}  // namespace

std::unique_ptr<Meeting> meet() {
    if (std::getenv(kRendezvousVariable) == nullptr) {
        // A launcher of ours that runs below another one has its own ranks.
        if (std::getenv(shm::kWorldVariable) != nullptr) return nullptr;
        auto found = invitation_by_pmix();
        if (!found) return nullptr;
        return come(std::move(found->invitation), std::move(found->listener));
    }
    Invitation invitation = invitation_from_environment();
    const bool is_hub = invitation.rank == 0 && std::getenv(kHubVariable) == nullptr;
    base::Descriptor listener;
    if (is_hub) listener = listen_at(invitation.address);
    // What this process starts is not this rank.
    for (const char* variable : {kRendezvousVariable, kSecretVariable, kHubVariable}) {
        unsetenv(variable);
    }
    return come(std::move(invitation), std::move(listener));
}

}  // namespace peal::hosts
