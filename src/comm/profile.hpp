// SPDX-License-Identifier: Apache-2.0
// The rules that a communicator goes by: those of the table of recipes (collectives/rules.hpp) that
// are for communicators, or the profile that `peal tune` writes from what it measures on this
// machine. A profile is such rules as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/rules.hpp"

namespace peal::comm {

using collectives::may_reach;
using collectives::Rule;
using collectives::Spread;
using collectives::Where;

constexpr Where where_of(bool on_window) { return on_window ? Where::window : Where::staging; }

struct Table {
    std::string origin;       // the profile's path, or "built in"
    std::vector<Rule> rules;  // the first that fits is taken

    // The rules for such a message, best first. Never empty for a valid table.
    std::vector<const Rule*> choices(CollectiveKind kind, bool on_window, std::uint64_t bytes,
                                     int nranks, const Spread& spread = {}) const;
};

Table built_in_table();

// Throws Error(usage) that says where and what is wrong: not JSON, an unknown word, a recipe that
// does not exist, or no rule that takes any size and number of ranks. Where it has no rule at all
// for several hosts, those of the built-in table hold.
Table table_from_json(std::string_view text, std::string origin);
// The same of a file.
Table table_in(const std::string& path);
std::string to_json(const Table& table);

inline constexpr const char* kProfileVariable = "PEAL_PROFILE";

// The profile that applies: $PEAL_PROFILE, or else the file that `peal tune` writes
// (profile_path()) if it exists, or else the built-in table. An empty $PEAL_PROFILE means built in.
Table applicable_table();
std::string profile_path();  // empty: the user has no home

// The staging window may be at most this large.
inline constexpr std::uint64_t kMaxStageBytes = 8 << 20;

}  // namespace peal::comm
