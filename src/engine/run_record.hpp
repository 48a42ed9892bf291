// SPDX-License-Identifier: Apache-2.0
// What engines carry out, written down, so that after the tests each plan of it is held against the
// checker (tests/runs/). Only builds for tests do that (PEAL_RECORD_RUNS); in others, and in the
// library that is installed, these do nothing.
//
// The environment variable PEAL_RECORD_RUNS names the directory; without it nothing is written.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/plan.hpp"

namespace peal::engine {

// Whether anything is written: whoever has made only its own plan asks before it makes the others.
bool records_runs();

// This process is about to carry out the plan: each engine says so where it makes one ready.
void record_run(const Plan& plan);

// How a rank comes from one call of its plan to the next.
enum class CallOrder : std::uint8_t {
    free,      // when it has ended the first, wherever the others are
    together,  // when all have
};

// The plans of all ranks that such a plan is one of. A set that was written down before, by
// whatever process, is not written again.
void record_set(const std::vector<Plan>& plans, CallOrder order);
// And what they do.
void record_set(const std::vector<Plan>& plans, CallOrder order, const Collective& collective);
// They are what the collective compiles to: only that is written, as often as it is said.
void record_compiled(const std::vector<Plan>& plans, CallOrder order, const Collective& collective);
// The same of plans that this process has not made. `hosts`, unless it is empty: they have been
// made for ranks on these (plan/between_hosts.hpp).
void record_compiled(int nranks, CallOrder order, const Collective& collective,
                     const std::vector<std::int64_t>& hosts);

// One call of a sequence, and what it may count on.
struct RecordedCall {
    const std::vector<Plan>* plans = nullptr;  // of all ranks
    // The memory behind each buffer; calls share what has the same name. Empty: its own name.
    std::vector<std::string> memory;
    // Windows that hold something when the call begins, and what: "input", "zeros" or "fresh", as
    // the checker calls it.
    std::vector<std::pair<std::string, std::string>> holds;
};

// How often a sequence of calls is made.
enum class Times : std::uint8_t {
    once,   // each time on windows and cells that are zeroed
    again,  // and again, on what the time before has left
};

// Calls that are made one after the other, when that is what they rely on. An engine that is given
// plans writes them down as a set by itself; `instead` takes the place of such sets of the first
// call's plans.
void record_sequence(const std::vector<RecordedCall>& calls, CallOrder order, Times times,
                     bool instead = false);

}  // namespace peal::engine
