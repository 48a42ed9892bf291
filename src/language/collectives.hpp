// SPDX-License-Identifier: Apache-2.0
// The short names of the collectives: "allreduce" for pld.tensor.allreduce.
#pragma once

#include <string_view>
#include <vector>

#include "peal/ops.hpp"

namespace peal::language {

const ir::OpSpec* collective_named(std::string_view name);  // null: there is none
std::vector<std::string_view> collective_names();

}  // namespace peal::language
