// SPDX-License-Identifier: Apache-2.0
// What can be said about plans without running them.
#pragma once

#include <vector>

#include "peal/check.hpp"

namespace peal::checker {

// Throws Error(usage) when the stages do not fit together.
void require_well_formed(const std::vector<CheckStage>& stages);

// What `validate` refuses, in its words: ranges and cells that do not exist and tiles that overlap
// are violations. Everything else is thrown as Error(program): no run could give it a meaning.
std::vector<Violation> plan_violations(const std::vector<CheckStage>& stages);

struct StaticFindings {
    std::vector<Violation> violations, warnings;
};

// Of plans that are valid: flags that cannot pair up, tiles placed by hand that overlap, limits of
// the device, and buffers that the meaning has no room in.
StaticFindings static_findings(const std::vector<CheckStage>& stages, const CheckOptions& options);

}  // namespace peal::checker
