// SPDX-License-Identifier: Apache-2.0
// What a check is made of beside the two methods' own headers: what is looked for before they run,
// the exploration, and what is asked of their answer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "check/finding.hpp"
#include "check/linear.hpp"
#include "check/meter.hpp"
#include "check/model.hpp"
#include "check/schedule.hpp"
#include "peal/check.hpp"

namespace peal::checker {

// One slope per cell: what waits ask for, what is set and what is added grows by the same amount
// from one round of the calls to the next. Otherwise the calls that are checked say nothing about
// later ones: what holds for three may fail for five. Finds the cells of which this is not true.
std::vector<Finding> find_drift(const Model& model);

// The exploration: all interleavings of signal ops, breadth first, each state once. docs/proof.md
// says why it is enough to interleave signal ops and which of them can be taken at once. The
// violation that takes the fewest choices, if there is one.
std::optional<Shown> explore(const Model& model, const CheckOptions& options, Meter& meter);

// Contents that are wrong were put there by somebody: adds the last instruction of the schedule
// that wrote the bytes of the finding to its events and its message. Without such an instruction
// since the caller staged them, and for findings about other things, nothing is added.
void name_last_writer(const Model& model, const Schedule& schedule, Finding& finding);

// Synchronisation that nobody needs: the notifies and waits that can be left out, one at a time, of
// stages that prove: what is left still proves within the same bounds. Stops early, and says so in
// the report, when the time of `meter` is up.
void find_redundant(const std::vector<CheckStage>& stages, const CheckOptions& options,
                    const Meter& meter, CheckReport& report);

// How long a run takes at best: the steps of the longest chain in a run in which everybody goes on
// as soon as it can. An instruction is one step, whatever it does, and so is what a caller does. 0:
// somebody waits for ever.
std::uint64_t critical_path(const Model& model);

}  // namespace peal::checker
