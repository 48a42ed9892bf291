// SPDX-License-Identifier: Apache-2.0
// The words for a step in a picture. They are as short as can be: bytes are left out when they are
// the whole buffer, and values are those of the call.
#pragma once

#include <cstdint>
#include <string>

#include "peal/plan.hpp"

namespace peal::draw {

// "copy data <- inp", "sum out <- data@0..3", "notify sig[0]@1 += 1". `generation` is the one of
// the signal buffer that the instruction names, if it names one.
std::string short_label(const Instruction& instruction, const Plan& plan, std::int64_t generation);

}  // namespace peal::draw
