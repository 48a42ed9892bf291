// SPDX-License-Identifier: Apache-2.0
// all_to_all_v where each rank knows its own pieces only: the ranks tell each other before.
#pragma once

#include "comm/group.hpp"

namespace peal::comm {

// Every rank calls it. Throws Error(usage): on this rank alone, before anybody is told, when the
// arguments do not fit each other; on all ranks alike when a rank sends what its peer does not
// expect.
ReadyCall place_pieces(Group& group, const ConstMemory& input, const Memory& output,
                       const Pieces& sent, const Pieces& received, CallSite at);

}  // namespace peal::comm
