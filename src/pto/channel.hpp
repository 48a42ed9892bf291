// SPDX-License-Identifier: Apache-2.0
// A pipe between a process and one that it starts.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/descriptor.hpp"
#include "peal/error.hpp"

namespace peal::pto {

// Not inherited by programs that are started, unless it is duplicated for them.
struct Channel {
    Channel() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) {
            throw Error(Fault::resource, fmt::format("no pipe: {}", std::strerror(errno)));
        }
        reader = base::Descriptor(ends[0]);
        writer = base::Descriptor(ends[1]);
    }
    base::Descriptor reader, writer;
};

}  // namespace peal::pto
