// SPDX-License-Identifier: Apache-2.0
// How reports speak about an instruction of a plan.
#pragma once

#include <cstddef>
#include <string>

#include "peal/plan.hpp"

namespace peal {

// `   (mesh.peal:6: "wait sig[0] >= 1")`, or nothing when the source is not known.
std::string source_note(const Plan& plan, const Instruction& instruction);

}  // namespace peal
