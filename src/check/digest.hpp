// SPDX-License-Identifier: Apache-2.0
// What is checked, as 128 bits each: 32 hexadecimal digits, the same on every machine.
#pragma once

#include <string>
#include <vector>

#include "peal/check.hpp"

namespace peal::checker {

// Contributions count by what they are, not by who shares the list of them.
std::string digest(const Meaning& meaning);

// Of the calls: for each, the plans of all ranks in order, what it means or that nothing is asked,
// and the names of its memory.
std::string digest(const std::vector<CheckStage>& stages);

}  // namespace peal::checker
