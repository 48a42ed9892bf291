// SPDX-License-Identifier: Apache-2.0
// What validation does not reject but a reader may want to know. (validate itself is in
// peal/plan.hpp.)
#pragma once

#include <string>
#include <vector>

#include "peal/plan.hpp"

namespace peal {

// Cache lines of packed signal cells (cell_stride below a line) that two ranks `set`: hardware that
// writes back whole lines may then lose one of the values. One sentence for each line, ordered by
// rank, buffer and line. `add` is atomic and harmless.
std::vector<std::string> shared_line_sets(const std::vector<Plan>& plans);

}  // namespace peal
