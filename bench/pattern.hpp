// SPDX-License-Identifier: Apache-2.0
// Inputs whose results are known: small whole numbers, so that every sum is exact.
#pragma once

#include <cstddef>
#include <string>

#include "contender.hpp"

namespace peal::bench {

void fill_input(const Job& job, int rank);

// Looks at some hundred elements of the output of the call with iteration 0. Returns what is wrong,
// or nothing.
std::string find_wrong(const Job& job, int rank, int nranks);

}  // namespace peal::bench
