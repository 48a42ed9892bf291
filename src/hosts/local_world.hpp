// SPDX-License-Identifier: Apache-2.0
// The shared memory of the ranks that are on one host, of a job that may have others elsewhere.
//
// The world of a host has a place for every rank of the job, under its number in the job, so that
// all who speak of ranks mean the same; those of other hosts never enter it. Whoever hears of the
// death of one of these raises the alarm for it here as well.
#pragma once

#include <vector>

#include "hosts/meeting.hpp"
#include "shm/membership.hpp"

namespace peal::hosts {

struct LocalWorld {
    shm::Membership place;  // has been entered
    std::vector<int>
        host_ids;  // by rank: equal where memory is shared; counted from 0 by first rank
    int ranks_on_machine = 0;  // that want its cores: those of this host at least
};

// All ranks of the meeting must call. A place that a launcher has left (PEAL_WORLD) is taken; else
// the first rank of each host makes the memory and the others of that host get it from there.
// Throws what exchange() throws, Error(resource).
LocalWorld find_local_world(Meeting& meeting);

}  // namespace peal::hosts
