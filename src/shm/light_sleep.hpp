// SPDX-License-Identifier: Apache-2.0
// A thread that sleeps most of the time and has to be quick when it is woken, on a busy machine
// too.
#pragma once

#include <cstdint>

namespace peal::shm {

// While it exists, its thread asks the system for slices so short that it is let before others when
// it wakes up. Nothing where the system does not know that (Linux before 6.12).
class LightSleep {
public:
    LightSleep();
    ~LightSleep() { end(); }
    LightSleep(const LightSleep&) = delete;
    LightSleep& operator=(const LightSleep&) = delete;

    // As it was before. For a forked child, which has no destructor to wait for.
    void end() const;

private:
    bool changed_ = false;
    std::uint64_t slice_before_ = 0;  // ns
};

}  // namespace peal::shm
