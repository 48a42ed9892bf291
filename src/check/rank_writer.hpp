// SPDX-License-Identifier: Apache-2.0
// Writes the ops of a rank: its plans, call after call, as lists for its agents.
#pragma once

#include "check/model.hpp"

namespace peal::checker {

// Adds the agents of the rank, the cells between them, and views of memory; the memory of the model
// is placed.
void write_rank(Model& model, std::int32_t rank, MemoryOrder order, Meter& meter);

}  // namespace peal::checker
