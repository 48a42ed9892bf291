// SPDX-License-Identifier: Apache-2.0
#include "cli/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "peal/error.hpp"

namespace peal::cli {
namespace {

struct Mention {
    std::string host;
    std::optional<int> slots;
};

[[noreturn]] void reject_hosts(const std::string& why) {
    throw Error(Fault::usage, fmt::format("launch: --hosts: {}", why));
}

Mention mention_from(std::string_view text) {
    const auto refuse = [&] {
        reject_hosts(
            fmt::format("expected a host or a host and its places such as node1 or "
                        "node1:4, found '{}'",
                        text));
    };
    std::string_view host = text, rest;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos) refuse();
        host = text.substr(1, end - 1);
        rest = text.substr(end + 1);
        if (!rest.empty() && rest.front() != ':') refuse();
    } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        host = text.substr(0, colon);
        rest = text.substr(colon);
    }
    // A name that begins with a dash would be an option of the agent.
    if (host.empty() || host.front() == '-') refuse();
    Mention mention{std::string(host), std::nullopt};
    if (rest.empty()) return mention;
    int slots = 0;
    const auto [end, error] = std::from_chars(rest.begin() + 1, rest.end(), slots);
    if (error != std::errc() || end != rest.end() || slots < 1) refuse();
    mention.slots = slots;
    return mention;
}

std::vector<Mention> mentions_in(std::string_view hosts) {
    std::vector<Mention> mentions;
    for (bool is_last = false; !is_last;) {
        const std::size_t comma = hosts.find(',');
        is_last = comma == std::string_view::npos;
        mentions.push_back(mention_from(hosts.substr(0, comma)));
        if (!is_last) hosts.remove_prefix(comma + 1);
        const auto same = [&](const Mention& m) { return m.host == mentions.back().host; };
        if (std::count_if(mentions.begin(), mentions.end(), same) > 1) {
            reject_hosts(fmt::format("'{}' is there twice", mentions.back().host));
        }
        if (mentions.back().slots.has_value() != mentions.front().slots.has_value()) {
            reject_hosts("either every host has a number of places, or none has");
        }
    }
    return mentions;
}

}  // namespace

std::vector<HostShare> shares_of(std::string_view hosts, int nranks) {
    const std::vector<Mention> mentions = mentions_in(hosts);
    const auto nhosts = static_cast<int>(mentions.size());
    std::vector<HostShare> shares;
    int next = 0;
    for (int i = 0; i < nhosts; ++i) {
        const Mention& mention = mentions[static_cast<std::size_t>(i)];
        const int even = nranks / nhosts + (i < nranks % nhosts ? 1 : 0);
        const int count = std::min(mention.slots.value_or(even), nranks - next);
        if (count > 0) shares.push_back({mention.host, next, count});
        next += count;
    }
    if (next < nranks) {
        reject_hosts(fmt::format("there are {} places for {} ranks", next, nranks));
    }
    return shares;
}

}  // namespace peal::cli
