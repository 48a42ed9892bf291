// SPDX-License-Identifier: Apache-2.0
// What a report adds to a violation: who waits for whom, and the syncs with which it proves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peal/check.hpp"

namespace peal::checker {

// A deadlock in short: the circle of ranks each of which waits for the next, or the rank that
// nobody is left to ring. One line for each. Empty for other violations.
std::string circle_text(const Violation& violation, const std::vector<CheckStage>& stages);

// For a race: a wait for what a line notifies already, or else a notify of every peer behind one
// line and a wait for all of them; before another line, or before the call returns, such that the
// plans prove with them. Nothing if none is found,
// or if the plans are of a kind that it is not sought for: several stages, pipes, instructions
// without lines, very many instructions.
std::optional<std::string> suggestion(const Violation& violation,
                                      const std::vector<CheckStage>& stages, CheckOptions options);

}  // namespace peal::checker
