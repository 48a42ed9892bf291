// SPDX-License-Identifier: Apache-2.0
// Trials, watched from outside: none hangs, none has a wrong result, and nothing is left of it.
#pragma once

#include <string>

#include "comm/storm/trial.hpp"

namespace peal::storm {

// Carries a trial out. What is wrong with it; "" if nothing is. For a process without children.
std::string complaint_about(const Trial& trial);

}  // namespace peal::storm
