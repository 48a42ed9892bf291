// SPDX-License-Identifier: Apache-2.0
// The device that a check is about.
#pragma once

#include "cli/target_options.hpp"
#include "peal/plan.hpp"

namespace peal::cli {

// The limits that plans of this target are held to. Throws Error(usage) when there is no such
// device, or when it is not the platform's.
DeviceRules device_rules(const TargetOptions& options);

}  // namespace peal::cli
