// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "cpu_time.hpp"

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

}  // namespace

ForeignLoad::ForeignLoad() : wall_(wall_seconds()), busy_(busy_seconds()), driver_(cpu_seconds()) {}

double ForeignLoad::cores() const {
    const double wall = wall_seconds() - wall_;
    const double foreign = busy_seconds() - busy_ - (cpu_seconds() - driver_) - own_;
    return wall > 0 ? std::max(0.0, foreign / wall) : 0;
}

}  // namespace peal::bench
