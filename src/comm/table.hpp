// SPDX-License-Identifier: Apache-2.0
// The one table that chooses a recipe. `peal tune` measures this machine and writes a profile that
// replaces the built-in one; a profile is the table as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "peal/collective.hpp"

namespace peal::comm {

// For messages of up to max_bytes (`count` elements) among up to max_ranks ranks.
struct Rule {
    static constexpr std::uint64_t kAny = std::uint64_t{1} << 62;

    CollectiveKind kind = CollectiveKind::barrier;
    bool on_window = false;
    int max_ranks = kMaxRanks;
    std::uint64_t max_bytes = kAny;
    std::string mode;
    std::uint64_t stage_bytes = 0;  // mode=pipeline: of a rank's staging window
    // The private buffers are the windows of the recipe: the system copies between them. Only taken
    // where it can.
    bool reach = false;

    bool operator==(const Rule&) const = default;
};

// Whether the recipe does nothing with its peers' data but copy it, so that a rule may reach.
bool may_reach(CollectiveKind kind, std::string_view mode);

struct Table {
    std::string origin;       // the profile's path, or "built in"
    std::vector<Rule> rules;  // the first that fits is taken

    // The rules for such a message, best first. Never empty for a valid table.
    std::vector<const Rule*> choices(CollectiveKind kind, bool on_window, std::uint64_t bytes,
                                     int nranks) const;
};

Table built_in_table();

// Throws Error(usage) that says where and what is wrong: not JSON, an unknown word, a recipe that
// does not exist, or no rule that takes any size and number of ranks.
Table table_from_json(std::string_view text, std::string origin);
std::string to_json(const Table& table);

// The profile that applies: $PEAL_PROFILE, or else the file that `peal tune` writes
// (profile_path()) if it exists, or else the built-in table. An empty $PEAL_PROFILE means built in.
Table applicable_table();
std::string profile_path();

// The staging window may be at most this large.
inline constexpr std::uint64_t kMaxStageBytes = 8 << 20;

}  // namespace peal::comm
