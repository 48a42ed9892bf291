// SPDX-License-Identifier: Apache-2.0
// What is compared with what: points of the comparison.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "task.hpp"

namespace peal::bench {

struct Point {
    int nranks = 2;
    Task task = Task::barrier;
    std::size_t bytes = 0;
    bool cold = false;
    int noise = 0;  // busy processes beside it
    auto operator<=>(const Point&) const = default;
};

struct Choice {
    std::vector<int> ranks = {2, 4, 8};
    std::vector<Task> tasks{kCollectiveTasks.begin(), kCollectiveTasks.end()};
    std::vector<std::size_t> sizes;
    std::vector<int> noise = {0};  // only quiet points have limits and cold buffers
    bool cold = true;
    bool limits = true;
    bool uneven = false;
    int hosts = 1;  // of several, the limits are those of the network
};

inline constexpr std::size_t kUnevenBytes = 8;

// 8 B to 64 MiB.
std::vector<std::size_t> table_sizes();
// 4 B to 50 MB, none of them a power of two.
std::vector<std::size_t> sweep_sizes();

// The points in the order in which they are measured: by ranks, then by task and size. With two
// ranks, the limits come right before the allreduce of their size.
std::vector<Point> points_of(const Choice& choice);

std::string size_text(std::size_t bytes);                  // "8 B", "64 KiB", "1.5 MB"
std::string ranks_text(const Choice& choice, int nranks);  // "4 ranks", "2 hosts with 2 ranks each"
std::string print(const Point& point);

}  // namespace peal::bench
