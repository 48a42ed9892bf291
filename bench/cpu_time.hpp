// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

namespace peal::bench {

// That this process has used so far, in all its threads.
inline double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace peal::bench
