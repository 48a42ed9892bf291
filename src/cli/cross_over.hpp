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
    bool on_window = false;
    std::vector<std::uint64_t> sizes;  // bytes as rules count them, growing
    std::vector<Candidate> candidates;
    // By candidate, then size; infinite where the candidate cannot be used. At each size one that
    // takes any size can be.
    std::vector<std::vector<double>> seconds;
};

// The quickest candidate for each range of sizes, for up to max_ranks ranks. A candidate that is
// ahead stays until another is clearly quicker, so noise does not make rules. The last rule takes
// any size.
std::vector<comm::Rule> rules_from(const Survey& survey, int max_ranks);

}  // namespace peal::cli
