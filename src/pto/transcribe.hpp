// SPDX-License-Identifier: Apache-2.0
// From what a kernel asked for to the instructions of a plan.
#pragma once

#include "pto/trace_child.hpp"

namespace peal::pto {

// The plan without source and line numbers' meaning: `line` is the number in the operation's own
// file. One operation may become several instructions, one for each row; origins[i] is the
// operation of instruction i. Throws Error(program) for what has no meaning on a device.
struct Transcript {
    std::vector<Instruction> instructions;
    std::vector<std::uint32_t> origins;
    std::vector<std::size_t> launches;  // where each kernel launch after the first begins
    std::uint64_t tile_bytes = 0;
    // Without the signal whose generation they go by.
    Turns turns;
};
Transcript transcribe(const Recording& recording, const KernelRun& run);

}  // namespace peal::pto
