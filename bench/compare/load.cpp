// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

namespace peal::bench {
namespace {

double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// All cores, whoever used them, the host's theft included.
double busy_seconds() {
    std::ifstream stat("/proc/stat");
    std::string cpu;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    return (user + nice + system + irq + softirq + steal) /
           static_cast<double>(sysconf(_SC_CLK_TCK));
}

double driver_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

ForeignLoad::ForeignLoad()
    : wall_(wall_seconds()), busy_(busy_seconds()), driver_(driver_seconds()) {}

double ForeignLoad::cores() const {
    const double wall = wall_seconds() - wall_;
    const double foreign = busy_seconds() - busy_ - (driver_seconds() - driver_) - own_;
    return wall > 0 ? std::max(0.0, foreign / wall) : 0;
}

}  // namespace peal::bench
