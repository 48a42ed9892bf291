// SPDX-License-Identifier: Apache-2.0
// `peal check` of a whole project: everything that its peal.toml lists, on all cores.
#pragma once

#include <filesystem>
#include <list>
#include <vector>

#include "cli/check_run.hpp"

namespace peal::cli {

// What one entry of the project asks, and the subjects that its runs refer to.
struct ProjectPart {
    CheckRequest request;
    std::vector<CheckSubject> subjects;
    FileLine at;
    Verdict expected = Verdict::proved;
};

struct ProjectResult {
    std::list<ProjectPart> parts;
    std::vector<Run> runs;  // in the order of the file

    const CheckRequest& request_of(const Run& run) const;
};

// Works in the directory of the file from now on. Who stands in the store of proofs is taken from
// there. What cannot be checked is a run with its trouble. On a terminal, stderr shows how far it
// is. Throws as read_project() does.
ProjectResult check_project(const std::filesystem::path& path, bool full, bool bytes);

}  // namespace peal::cli
