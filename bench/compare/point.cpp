// SPDX-License-Identifier: Apache-2.0
#include "point.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peal::bench {
namespace {

void add_limits(std::vector<Point>& points, const Choice& choice, int nranks, std::size_t bytes) {
    if (choice.hosts > 1) {
        for (const Task task : {Task::put, Task::tcp, Task::tcp_both}) {
            points.push_back({nranks, task, bytes, false});
        }
        return;
    }
    constexpr std::size_t kSmallestCopy = 4096;
    if (bytes == 8) points.push_back({nranks, Task::handoff, 0, false});
    if (bytes >= kSmallestCopy) {
        points.push_back({nranks, Task::copy, bytes, false});
        points.push_back({nranks, Task::add, bytes, false});
    }
}

void add_quiet(std::vector<Point>& points, const Choice& choice, const Point& point) {
    if (choice.limits && point.nranks == 2 && point.task == Task::allreduce) {
        add_limits(points, choice, point.nranks, point.bytes);
    }
    points.push_back(point);
    if (!choice.cold || point.task == Task::barrier) return;
    points.push_back(point);
    points.back().cold = true;
}

// Quiet and loaded right after each other: what one is compared with was measured a moment ago.
void add_task(std::vector<Point>& points, const Choice& choice, int nranks, Task task) {
    const std::vector<std::size_t> unsized = {0};
    for (const std::size_t bytes : task == Task::barrier ? unsized : choice.sizes) {
        for (const int noise : choice.noise) {
            const Point point{nranks, task, bytes, false, noise};
            if (noise == 0) {
                add_quiet(points, choice, point);
            } else {
                points.push_back(point);
            }
        }
    }
}

void add_uneven(std::vector<Point>& points, const Choice& choice, int nranks) {
    for (const int noise : choice.noise) {
        points.push_back({nranks, Task::uneven, kUnevenBytes, false, noise});
    }
}

}  // namespace

std::vector<std::size_t> table_sizes() {
    return {8, 256, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20};
}

std::vector<std::size_t> sweep_sizes() {
    // Steps of about 1.6, each made odd in elements.
    std::vector<std::size_t> sizes = {4};
    for (double elements = 3; elements * sizeof(float) < 50e6; elements *= 1.6) {
        sizes.push_back((static_cast<std::size_t>(elements) | 1) * sizeof(float));
    }
    sizes.push_back(50'000'004);
    return sizes;
}

std::vector<Point> points_of(const Choice& choice) {
    std::vector<Point> points;
    for (const int nranks : choice.ranks) {
        for (const Task task : choice.tasks) add_task(points, choice, nranks, task);
        if (choice.uneven) add_uneven(points, choice, nranks);
    }
    return points;
}

std::string size_text(std::size_t bytes) {
    constexpr std::size_t kKiB = 1024;
    if (bytes == 0) return "-";
    if (bytes % (kKiB * kKiB) == 0) return fmt::format("{} MiB", bytes / (kKiB * kKiB));
    if (bytes % kKiB == 0) return fmt::format("{} KiB", bytes / kKiB);
    if (bytes < 1000) return fmt::format("{} B", bytes);
    if (bytes < 1000'000) return fmt::format("{:.3g} kB", static_cast<double>(bytes) / 1e3);
    return fmt::format("{:.3g} MB", static_cast<double>(bytes) / 1e6);
}

std::string ranks_text(const Choice& choice, int nranks) {
    if (choice.hosts == 1) return fmt::format("{} ranks", nranks);
    const int each = nranks / choice.hosts;
    return fmt::format("{} hosts with {} rank{} each", choice.hosts, each, each == 1 ? "" : "s");
}

std::string print(const Point& point) {
    return fmt::format("{} ranks {} {} {}{}", point.nranks, name(point.task),
                       size_text(point.bytes), point.cold ? "cold" : "warm",
                       point.noise > 0 ? fmt::format(", {} busy", point.noise) : "");
}

}  // namespace peal::bench
