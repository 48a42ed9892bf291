// SPDX-License-Identifier: Apache-2.0
#include "hosts/address.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "hosts/waiting.hpp"
#include "peal/error.hpp"

namespace peal::hosts {
namespace {

using base::Descriptor;
using Found = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// `why` is what the system says if there is nothing.
Found look_up(const Address& address, int flags, std::string& why) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int error =
        getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
    if (error != 0) {
        why = error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error);
        found = nullptr;
    }
    return {found, freeaddrinfo};
}

Descriptor socket_for(const addrinfo& place) {
    return Descriptor(socket(place.ai_family, place.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                             place.ai_protocol));
}

// errno says why not.
bool is_connected(int socket, const addrinfo& place,
                  std::chrono::steady_clock::time_point deadline) {
    if (connect(socket, place.ai_addr, place.ai_addrlen) == 0) return true;
    if (errno != EINPROGRESS) return false;
    if (!wait_for(socket, POLLOUT, deadline)) {
        errno = ETIMEDOUT;
        return false;
    }
    int error = 0;
    socklen_t bytes = sizeof error;
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &bytes);
    errno = error;
    return error == 0;
}

}  // namespace

std::string Address::text() const {
    const bool has_colons = host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", has_colons ? "[" : "", host, has_colons ? "]" : "", port);
}

Address address_from(std::string_view text, std::string_view where) {
    const auto refuse = [&] {
        return Error(Fault::usage,
                     fmt::format("{}='{}': expected a host and a port such as node1:7000 or "
                                 "[fd00::1]:7000",
                                 where, text));
    };
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) throw refuse();
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), port);
    if (error != std::errc() || end != digits.end() || digits.empty()) throw refuse();
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        throw refuse();
    }
    if (host.empty()) throw refuse();
    return {std::string(host), port};
}

std::string number_of(const std::string& host) {
    std::string why;
    const Found found = look_up({host, 0}, 0, why);
    char number[NI_MAXHOST] = "";
    const bool is_known = found && getnameinfo(found->ai_addr, found->ai_addrlen, number,
                                               sizeof number, nullptr, 0, NI_NUMERICHOST) == 0;
    if (!is_known) throw Error(Fault::usage, fmt::format("cannot find host '{}': {}", host, why));
    return number;
}

Descriptor listen_at(Address& address) {
    std::string why;
    const Found found = look_up(address, AI_PASSIVE, why);
    const auto refuse = [&](Fault fault) {
        return Error(fault, fmt::format("cannot listen at {}: {}", address.text(), why));
    };
    if (!found) throw refuse(Fault::usage);
    Descriptor listener = socket_for(*found);
    const int yes = 1;
    if (listener) {
        setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (found->ai_family == AF_INET6) {  // and not of IPv4, which nobody has told it
            setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
        }
    }
    const bool listens = listener && bind(listener.get(), found->ai_addr, found->ai_addrlen) == 0 &&
                         listen(listener.get(), SOMAXCONN) == 0;
    if (!listens) {
        const Fault fault = errno == EADDRNOTAVAIL ? Fault::usage : Fault::resource;
        why = std::strerror(errno);
        throw refuse(fault);
    }
    address.port = address_of(listener.get()).port;
    return listener;
}

Address address_of(int listener) {
    sockaddr_storage own = {};
    socklen_t bytes = sizeof own;
    getsockname(listener, reinterpret_cast<sockaddr*>(&own), &bytes);
    char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "0";
    getnameinfo(reinterpret_cast<sockaddr*>(&own), bytes, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    return {host, static_cast<std::uint16_t>(std::stoi(port))};
}

bool is_own_loop(std::string_view number) { return number.starts_with("127.") || number == "::1"; }

Descriptor connect_to(const Address& address, std::chrono::steady_clock::time_point deadline) {
    std::string why;
    const Found found = look_up(address, 0, why);
    errno = EHOSTUNREACH;
    for (const addrinfo* place = found.get(); place != nullptr; place = place->ai_next) {
        Descriptor socket = socket_for(*place);
        if (socket && is_connected(socket.get(), *place, deadline)) return socket;
    }
    return Descriptor();
}

}  // namespace peal::hosts
