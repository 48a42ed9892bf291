// SPDX-License-Identifier: Apache-2.0
// From measured times to rules: which recipe for which sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/profile.hpp"

namespace peal::cli {

// A recipe as a rule names it.
struct Candidate {
    std::string recipe;
    std::uint64_t stage_bytes = 0;
    bool takes_any_size = true;  // wherever it runs
    bool reach = false;          // of any size, but not everywhere

    bool operator==(const Candidate&) const = default;
};

// What was measured of one collective on one number of ranks.
struct Survey {
    CollectiveKind kind = CollectiveKind::barrier;
    comm::Where where = comm::Where::staging;
    std::vector<std::uint64_t> sizes;  // bytes as rules count them, growing
    std::vector<Candidate> candidates;
    // By candidate, then size; infinite where the candidate cannot be used. At each size one that
    // takes any size can be.
    std::vector<std::vector<double>> seconds;
};

// For whom rules are, as they say it.
struct RuleLimits {
    int max_ranks = kMaxRanks;
    int max_hosts = kMaxRanks, max_per_host = kMaxRanks;  // of rules between hosts
};

// The quickest candidate for each range of sizes. A candidate that is ahead stays until another is
// clearly quicker, so noise does not make rules. The last rule takes any size.
std::vector<comm::Rule> rules_from(const Survey& survey, const RuleLimits& limits);

// Puts rules between hosts, all for the same limits, into a table, for those that it had for them.
// Rules for fewer ranks go first, since the first that fits is taken.
void put_between_hosts(const std::vector<comm::Rule>& measured, comm::Table& table);

}  // namespace peal::cli
