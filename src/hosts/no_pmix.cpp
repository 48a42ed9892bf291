// SPDX-License-Identifier: Apache-2.0
// In the place of pmix.cpp where libpmix is missing.
#include <cstdlib>

#include "hosts/pmix.hpp"
#include "peal/error.hpp"

namespace peal::hosts {

std::optional<PmixInvitation> invitation_by_pmix() {
    if (std::getenv("PMIX_NAMESPACE") == nullptr) return std::nullopt;
    throw Error(Fault::usage,
                "this process was started by a launcher that speaks PMIx, and this build of Peal "
                "does not; install the Debian package libpmix-dev and build again");
}

}  // namespace peal::hosts
