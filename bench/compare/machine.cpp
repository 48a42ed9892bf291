// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

namespace peal::bench {
namespace {

constexpr std::size_t kCacheResident = 1 << 20;

std::optional<double> limit_us(const Results& results, Task task, std::size_t bytes, State state) {
    const Point point{2, task, bytes, false};
    const std::string who = task >= Task::put ? "wire" : "machine";
    const Row* row = results.best_in_state(point, who, state);
    if (row == nullptr) row = results.best_of(point, who);
    return row == nullptr ? std::nullopt : std::optional(row->median_us);
}

}  // namespace

std::optional<double> handoff_us(const Results& results, State state) {
    return limit_us(results, Task::handoff, 0, state);
}

std::optional<double> copy_us(const Results& results, std::size_t bytes, State state) {
    return limit_us(results, Task::copy, bytes, state);
}

std::optional<double> add_us(const Results& results, std::size_t bytes, State state) {
    return limit_us(results, Task::add, bytes, state);
}

std::optional<double> wire_us(const Results& results, Task task, std::size_t bytes, State state) {
    return limit_us(results, task, bytes, state);
}

std::optional<double> window_allreduce_bound_us(const Results& results, std::size_t bytes,
                                                State state) {
    const auto copy = copy_us(results, bytes, state);
    const auto handoff = handoff_us(results, state);
    if (!copy || !handoff) return std::nullopt;
    return *copy + 2 * *handoff;
}

std::optional<double> allreduce_bound_us(const Results& results, std::size_t bytes, State state) {
    const auto in_windows = window_allreduce_bound_us(results, bytes, state);
    const auto resident = copy_us(results, kCacheResident, state);
    if (!in_windows || !resident) return std::nullopt;
    return *in_windows +
           *resident * static_cast<double>(bytes) / static_cast<double>(kCacheResident);
}

std::optional<double> copying_bound_us(const Results& results, Task task, std::size_t bytes,
                                       State state) {
    const auto copy = copy_us(results, bytes, state);
    if (!copy) return std::nullopt;
    switch (task) {
        case Task::allgather: return 2 * *copy;
        case Task::broadcast: return *copy / 2;
        case Task::all_to_all: return *copy;
        default: return std::nullopt;
    }
}

}  // namespace peal::bench
