// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "emit/facts.hpp"
#include "emit/steps.hpp"
#include "peal/pto.hpp"

namespace peal::emitter {

// Puts flags where one pipe depends on another and nowhere else, drains before notifies, and the
// flags by which tiles take turns.
void insert_flags(DeviceProgram& program, const Facts& facts, pto::Device device);

}  // namespace peal::emitter
