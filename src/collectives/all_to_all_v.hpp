// SPDX-License-Identifier: Apache-2.0
// Where the pieces of an all_to_all_v lie. counts[from, to] elements go from rank `from` to rank
// `to`; pieces are packed in rank order, unless tables say where they begin.
#pragma once

#include "collectives/site.hpp"

namespace peal::collectives::all_to_all_v {

// What this rank sends to `peer`, of the input, and gets from it, of the output.
Part piece_for(const Site& at, const ExprPtr& peer);
Part piece_of(const Site& at, const ExprPtr& peer);

// Elements of this rank's input and output: up to the end of the last piece.
ExprPtr input_size(const Site& at);
ExprPtr output_size(const Site& at);
// The most that any rank gets: the size of the target.
ExprPtr most_received(const Site& at);
// The largest piece of all.
ExprPtr most_sent(const Site& at);

}  // namespace peal::collectives::all_to_all_v
