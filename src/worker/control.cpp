// SPDX-License-Identifier: Apache-2.0
#include "worker/control.hpp"

#include <unistd.h>

namespace peal::worker {

void HostBell::ring(int descriptor) {
    if (armed.exchange(0, std::memory_order_acq_rel) == 0) return;
    const std::uint64_t once = 1;
    // It fails only if the counter is full, and then the host has been called.
    [[maybe_unused]] const ssize_t written = write(descriptor, &once, sizeof once);
}

}  // namespace peal::worker
