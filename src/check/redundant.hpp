// SPDX-License-Identifier: Apache-2.0
// Synchronisation that nobody needs.
#pragma once

#include <vector>

#include "check/meter.hpp"
#include "peal/check.hpp"

namespace peal::checker {

// The notifies and waits that can be left out, one at a time, of stages that prove: what is left
// still proves within the same bounds. Stops early, and says so in the report, when the time of
// `meter` is up.
void find_redundant(const std::vector<CheckStage>& stages, const CheckOptions& options,
                    const Meter& meter, CheckReport& report);

}  // namespace peal::checker
