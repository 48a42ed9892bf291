// SPDX-License-Identifier: Apache-2.0
// What reports say of the calls of a group's ranks: what each has called, and where it stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "comm/group_memory.hpp"
#include "comm/request.hpp"

namespace peal::comm {

class CallReport {
public:
    // `call` is the one that this rank is in.
    CallReport(const Members& members, const CallAtHand& call) : members_(members), call_(call) {}

    // ---- what is known of others

    // What `rank` called in `turn`; nothing if it has not called yet. Acquire: pairs with
    // Diagnosis::log().
    std::optional<Stamp> called(int rank, std::uint64_t turn) const;
    // Whether it makes no further call. Acquire: pairs with Diagnosis::leave().
    bool has_left(int rank) const { return has_left(members_, rank); }
    bool has_left(const Members& members, int rank) const;

    // ---- texts

    // "rank 1", of a member by its rank in the communicator; "rank 1 on host b" where these are on
    // several.
    std::string name_of(int member) const;
    // "send of 4 f32 to rank 1", for the call of a member.
    std::string text_of(const Stamp& stamp, int member) const;
    // What each has called in that turn, a line for each.
    std::string calls_of_all(std::uint64_t turn) const;
    // Where each rank of the communicator says that it stands; of those who have not answered the
    // inquiry, what is known without them. With several hosts it is what all have written down.
    std::string standings(std::uint32_t inquiry) const;
    std::string standings_on_hosts() const;

    // Of this rank: "in barrier (call 3)", and the wait that does not pass.
    std::string standing() const;
    // The same without "in"; "no call" if there is none.
    std::string call_at_hand() const;
    // " of the world" where ranks have other numbers there, behind such a number.
    std::string_view of_the_world() const;

private:
    std::string named(int rank) const;
    std::string call_of(int rank, std::uint64_t turn) const;
    std::string known_of(int rank) const;
    std::string own_call() const;
    std::string own_wait() const;
    std::string ringers(std::size_t position) const;
    std::string among() const;
    std::string in_world(int rank) const;

    const Members& members_;
    const CallAtHand& call_;
};

}  // namespace peal::comm
