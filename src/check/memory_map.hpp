// SPDX-License-Identifier: Apache-2.0
// Finds the memory behind the buffers of all stages.
#pragma once

#include "check/model.hpp"

namespace peal::checker {

// Gives the model its storages, regions and cells; its stages, ranks and calls are set. Throws
// Error(usage) when memory of one name is used in two ways.
void place_memory(Model& model);

}  // namespace peal::checker
