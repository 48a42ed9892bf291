// SPDX-License-Identifier: Apache-2.0
// Stands in for ucx_net.cpp in a build without UCX.
#include "hosts/net.hpp"
#include "peal/error.hpp"

namespace peal::hosts {

std::unique_ptr<Net> open_net(int /*rank*/, bool /*is_direct*/) {
    throw Error(Fault::usage,
                "cannot reach other hosts: Peal was built without UCX; install it (Debian: "
                "libucx-dev) and build again");
}

}  // namespace peal::hosts
