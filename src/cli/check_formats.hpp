// SPDX-License-Identifier: Apache-2.0
// What `peal check` found, for those who show it beside the code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/check_run.hpp"

namespace peal::cli {

// Files are named as seen from the directory `from`.

// A test suite with a case for each run.
std::string to_junit(const std::vector<Run>& runs, const std::filesystem::path& from);

// SARIF 2.1.0: a result for each violation, warning and error, at its line.
std::string to_sarif(const std::vector<Run>& runs, const std::filesystem::path& from);

// Workflow commands that GitHub shows as annotations: "::error file=a.peal,line=7,title=...::...".
std::string to_annotations(const std::vector<Run>& runs, const std::filesystem::path& from);

}  // namespace peal::cli
