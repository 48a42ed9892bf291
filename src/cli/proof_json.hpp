// SPDX-License-Identifier: Apache-2.0
// What JSON of a run says of its proof, besides the word.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/proof.hpp"

namespace peal::cli {

// Only what there is to say.
void add_proof(nlohmann::ordered_json& json, const Proof& proof);

}  // namespace peal::cli
