// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "emit/steps.hpp"

namespace peal::emitter {

// What a loop does, in a sentence; empty when there is nothing to say that its text does not.
std::string describe(const Loop& loop);

}  // namespace peal::emitter
