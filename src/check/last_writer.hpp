// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "check/schedule.hpp"

namespace peal::checker {

// Contents that are wrong were put there by somebody: adds the last instruction of the schedule
// that wrote the bytes of the finding to its events and its message. Without such an instruction
// since the caller staged them, and for findings about other things, nothing is added.
void name_last_writer(const Model& model, const Schedule& schedule, Finding& finding);

}  // namespace peal::checker
