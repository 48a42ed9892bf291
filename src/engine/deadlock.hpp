// SPDX-License-Identifier: Apache-2.0
// Where everybody stands when nobody can go on.
#pragma once

#include <span>
#include <string>

#include "engine/core.hpp"

namespace peal {

// For ranks none of which can go on, in rank order:
//
//   deadlock: no rank can go on
//     rank 0  instruction 5  wait sig[1] >= 1   (mesh.peal:6: "wait sig[peer] >= 1")
//             sees 0; still to ring it: rank 1 at instruction 7 (now at 3)
//     rank 1  instruction 3  ...
//     rank 2  finished
std::string deadlock_report(std::span<const Core> cores);

}  // namespace peal
