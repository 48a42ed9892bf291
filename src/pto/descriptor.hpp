// SPDX-License-Identifier: Apache-2.0
// File descriptors that close themselves.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::pto {

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        close();
        number_ = std::exchange(other.number_, -1);
        return *this;
    }
    ~Descriptor() { close(); }

    int get() const { return number_; }
    void close() {
        if (number_ >= 0) ::close(std::exchange(number_, -1));
    }

private:
    int number_ = -1;
};

// Not inherited by programs that are started, unless it is duplicated for them.
struct Channel {
    Channel() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) {
            throw Error(Fault::resource, fmt::format("no pipe: {}", std::strerror(errno)));
        }
        reader = Descriptor(ends[0]);
        writer = Descriptor(ends[1]);
    }
    Descriptor reader, writer;
};

}  // namespace peal::pto
