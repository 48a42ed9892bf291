// SPDX-License-Identifier: Apache-2.0
// What can be said about plans without running them.
#pragma once

#include <vector>

#include "peal/check.hpp"

namespace peal::checker {

// Throws Error(usage) when the stages do not fit together, and Error(program) when an instruction
// is malformed in a way that no run could give a meaning to.
void require_well_formed(const std::vector<CheckStage>& stages);

// Ranges and cells that do not exist, flags that cannot pair up, limits of the device.
std::vector<Violation> static_violations(const std::vector<CheckStage>& stages,
                                         const DeviceRules& device);

}  // namespace peal::checker
