// SPDX-License-Identifier: Apache-2.0
// A random interleaving of the ranks, the same one for the same random numbers.
#pragma once

#include <random>
#include <span>

#include "engine/core.hpp"
#include "engine/crew.hpp"

namespace peal {

// Carries out one instruction at a time of a rank drawn at random, on this thread.
RunEnd interleave(std::span<Core> cores, std::mt19937_64& random);

}  // namespace peal
