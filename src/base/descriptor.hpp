// SPDX-License-Identifier: Apache-2.0
// A descriptor that is closed when nobody has it any more.
#pragma once

#include <unistd.h>

#include <utility>

namespace peal::base {

class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            reset();
            number_ = other.release();
        }
        return *this;
    }

    int get() const { return number_; }
    // It is the caller's now.
    int release() { return std::exchange(number_, -1); }
    void reset() {
        if (number_ >= 0) close(release());
    }
    explicit operator bool() const { return number_ >= 0; }

private:
    int number_;
};

}  // namespace peal::base
