// SPDX-License-Identifier: Apache-2.0
// The way to a rendezvous under mpirun, prterun or srun: rank, ranks, address and secret by PMIx.
#pragma once

#include <optional>

#include "base/descriptor.hpp"
#include "hosts/guest.hpp"

namespace peal::hosts {

struct PmixInvitation {
    Invitation invitation;
    base::Descriptor listener;  // of the first rank, for its hub
};

// Nothing if nobody speaks PMIx here, or this build does not.
std::optional<PmixInvitation> invitation_by_pmix();

}  // namespace peal::hosts
