// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/pto.hpp"
#include "pto/emit_facts.hpp"
#include "pto/emit_steps.hpp"

namespace peal::pto::emitter {

// Puts flags where one pipe depends on another and nowhere else, drains before notifies, and the
// flags by which tiles take turns.
void insert_flags(DeviceProgram& program, const Facts& facts, Device device);

}  // namespace peal::pto::emitter
