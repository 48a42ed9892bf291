// SPDX-License-Identifier: Apache-2.0
// Profiles on disk, as `peal tune` needs them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/profile.hpp"

namespace peal::cli {

// Makes the directory of `path` if there is none. Throws Error(resource) when nothing can be
// written there.
void expect_writable(const std::string& path);

// The profile that is there; the built-in table if there is none, or none that is right.
comm::Table table_at(const std::string& path);

// Its rules between hosts, if they are not those of the built-in table.
std::vector<comm::Rule> own_rules_between_hosts(const std::string& path);

// While it lives, communicators that are made by this process's children use this table.
class ForcedProfile {
public:
    explicit ForcedProfile(const comm::Table& table);
    ~ForcedProfile();
    ForcedProfile(const ForcedProfile&) = delete;
    ForcedProfile& operator=(const ForcedProfile&) = delete;

private:
    std::string path_;
    std::optional<std::string> before_;  // of PEAL_PROFILE
};

}  // namespace peal::cli
