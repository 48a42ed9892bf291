// SPDX-License-Identifier: Apache-2.0
// Ranks on hosts: even and uneven ones, one host, one rank on each, ranks in any order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/catalogue.hpp"

namespace peal::test {

using Hosts = std::vector<std::int64_t>;

inline const std::vector<Hosts>& layouts() {
    static const std::vector<Hosts> list = {
        {0, 1},                    // 1+1
        {0, 0, 1, 1},              // 2+2
        {0, 0, 0, 1},              // 3+1
        {0, 0, 0, 1, 1, 1, 1, 1},  // 3+5
        {0, 0, 1, 1, 2, 2, 3, 3},  // 2+2+2+2
        {0, 1, 2},                 // 1+1+1
        {0, 0, 0, 0},              // all on one
        {0, 1, 0, 1, 0, 1},        // in turn
        {7, 2, 7, 7, 2, 5, 2},     // any order, any numbers
        {0},
    };
    return list;
}

// "0,1,0,1"
inline std::string text_of(const Hosts& hosts) {
    std::string text;
    for (const std::int64_t host : hosts) {
        text += (text.empty() ? "" : ",") + std::to_string(host);
    }
    return text;
}

struct HostCase {
    CollectiveKind kind;
    std::string recipe;
};

inline std::vector<HostCase> host_cases() {
    std::vector<HostCase> list;
    for (const CollectiveKind kind : kCollectives) {
        for (const auto& entry : collectives::entries_of_hosts(kind)) {
            list.push_back({kind, std::string(entry.row.name)});
        }
    }
    return list;
}

inline Collective collective_of(const HostCase& the, const Hosts& hosts, std::uint64_t count) {
    Collective collective;
    collective.kind = the.kind;
    collective.recipe = the.recipe;
    collective.hosts = hosts;
    collective.count = count;
    const auto nranks = static_cast<int>(hosts.size());
    collective.root = nranks / 2;
    for (std::size_t i = 0; i < table_entries(the.kind, nranks); ++i) {
        collective.counts.push_back(static_cast<std::int64_t>(count * (i * 5 % 7) / 7));
    }
    return collective;
}

}  // namespace peal::test
