// SPDX-License-Identifier: Apache-2.0
// A project: a file peal.toml that lists what `peal check` without a target proves.
//
//   [defaults]                # for every check that does not say otherwise
//   ranks = "2..8"
//
//   [[check]]
//   target = "mesh.peal"      # files are found from where peal.toml is
//   expect = "allreduce"
//   count = [1, 1000]         # a list where one value is meant: a check for each
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "peal/source.hpp"

namespace peal::cli {

inline constexpr const char* kProjectFile = "peal.toml";

struct ProjectSetting {
    std::string key;
    std::vector<std::string> values;  // one, unless the key takes a list; a flag: "true"
};

struct ProjectCheck {
    std::uint32_t line = 0;  // where it begins
    std::vector<ProjectSetting> settings;

    // The value of a key that takes one; nothing if it is not set.
    std::optional<std::string> value_of(const std::string& key) const;
};

struct Project {
    SourcePtr source;
    std::vector<ProjectCheck> checks;
};

// The file in this directory or the nearest one above it.
std::optional<std::filesystem::path> find_project(const std::filesystem::path& directory);

// `keys` is what a check may say. Throws ProgramError with everything that is wrong in it, and
// Error(usage) when it cannot be read.
Project read_project(const std::filesystem::path& path, const std::vector<OptionFacts>& keys);

}  // namespace peal::cli
