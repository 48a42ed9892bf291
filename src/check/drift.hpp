// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "check/finding.hpp"

namespace peal::checker {

// One slope per cell: what waits ask for, what is set and what is added grows by the same amount
// from one round of the calls to the next. Otherwise the calls that are checked say nothing about
// later ones: what holds for three may fail for five. Finds the cells of which this is not true.
std::vector<Finding> find_drift(const Model& model);

}  // namespace peal::checker
