// SPDX-License-Identifier: Apache-2.0
// From what is called, and what each rank gives it, to plans.
#pragma once

#include <string>
#include <vector>

#include "pto/frame.hpp"
#include "pto/trace_child.hpp"

namespace peal::pto {

// One rank. Who has nothing to do has the frame of somebody who has.
struct RankFrame {
    Frame frame;
    bool is_idle = false;
};

struct TraceRequest {
    std::string name;  // of the plans
    Callee callee;
    std::string source;  // the file whose lines need no name
    std::vector<std::int64_t> generations = {0};
    TraceOptions options;
};

struct TracedRanks {
    std::vector<Plan> plans;
    // Places in Layout::placed of the windows that were found to have signals, in the order of
    // their buffers, which are the last ones.
    std::vector<std::size_t> with_signals;
    std::vector<std::vector<std::uint64_t>> created;  // bytes, by rank; each has as many
};

// The buffers of all ranks are the same ones. Throws Error(program) as trace() does.
TracedRanks trace_ranks(const TraceRequest& request, std::vector<RankFrame> ranks);

// What plans do with a window whose words are data or signals.
struct WindowUse {
    const std::vector<Plan>* plans = nullptr;
    std::uint16_t window = kNoBuffer;   // buffers of the plans
    std::uint16_t signals = kNoBuffer;  // none: it has no signals here
};
// All of the same window. Throws Error(program), with both lines, if a word is data and a signal,
// or data is stored into a line that a notify writes back whole.
void expect_apart(const std::vector<WindowUse>& uses);

// A kernel finds nothing of use in tile memory, and leaves no flag: throws Error(program) if one
// that begins at launches[i] reads what an earlier one left there, or one before it leaves a flag.
void expect_separate(const Plan& plan, const std::vector<std::size_t>& launches);

}  // namespace peal::pto
