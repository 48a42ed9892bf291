// SPDX-License-Identifier: Apache-2.0
// Places in a network, "host:port", by IPv4 or IPv6.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace peal::hosts {

struct Address {
    std::string host;  // a name or a number
    std::uint16_t port = 0;

    // "[::1]:7000" where the host has colons of its own.
    std::string text() const;
};

// Throws Error(usage), which begins with `where`: the name of an option or a variable.
Address address_from(std::string_view text, std::string_view where);

// The number of a host, as this machine knows it. Throws Error(usage): nobody knows the name.
std::string number_of(const std::string& host);

// A socket on which connections can be accepted, at that address and no other. Port 0: any; then
// `address` has the one that it is. Throws Error(usage): this machine has no such address;
// Error(resource).
base::Descriptor listen_at(Address& address);

// Where it listens, in numbers.
Address address_of(int listener);
// Of a number of a host: whether every machine means itself by it.
bool is_own_loop(std::string_view number);

// Nothing, with errno, if nobody answers until then; a name that nobody knows yet, too.
base::Descriptor connect_to(const Address& address, std::chrono::steady_clock::time_point deadline);

}  // namespace peal::hosts
