// SPDX-License-Identifier: Apache-2.0
// Strangers: processes that only spin, as others do on a machine that is not idle.
#pragma once

#include <sys/types.h>

#include <vector>

namespace peal::bench {

// They run from here until the end of this object. The first is bound to the first core that it may
// use if `pinned`; the others go where the scheduler puts them. Throws std::system_error.
class Noise {
public:
    Noise(int processes, bool pinned);
    ~Noise();
    Noise(const Noise&) = delete;
    Noise& operator=(const Noise&) = delete;

    int processes() const { return static_cast<int>(pids_.size()); }

private:
    std::vector<pid_t> pids_;
};

}  // namespace peal::bench
