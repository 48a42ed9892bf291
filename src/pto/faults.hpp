// SPDX-License-Identifier: Apache-2.0
// Faults of a kernel, in its process.
#pragma once

#include <vector>

#include "pto/argument_list.hpp"
#include "pto/library.hpp"
#include "pto/trace_report.hpp"

namespace peal::pto {

// What a crash is told with.
struct Witness {
    const Messenger& messenger;
    const ArgumentList& arguments;
    const std::vector<Library>& libraries;  // of the kernels, and behind them that of the shim
};

// From now on a fault ends the process with a Crash. There is one witness, which stays.
void catch_faults(const Witness& witness);

}  // namespace peal::pto
