// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "worker/compiled_kernel.hpp"

namespace peal::worker {

// Returns if the kernel is proved for several calls in a row, within the limits of the platform; if
// it came with pipes, as it was given and as devices carry it out. What stands in the user's store
// of proofs is not proved again.
// Throws Error(wrong) with the counterexample, or Error(bound). `together`: between two calls all
// ranks have returned from the first.
void prove(const CompiledKernel& kernel, bool together, std::string_view platform);

}  // namespace peal::worker
