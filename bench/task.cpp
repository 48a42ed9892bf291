// SPDX-License-Identifier: Apache-2.0
#include "task.hpp"

#include <algorithm>

namespace peal::bench {
namespace {

constexpr std::array<std::string_view, 21> kNames = {"allreduce",    "reduce_scatter",
                                                     "allgather",    "broadcast",
                                                     "all_to_all",   "barrier",
                                                     "scan",         "exscan",
                                                     "allgather_v",  "reduce_scatter_v",
                                                     "all_to_all_v", "ping_pong",
                                                     "stream",       "neighbours",
                                                     "handoff",      "copy",
                                                     "add",          "put",
                                                     "tcp",          "tcp_both",
                                                     "uneven"};

std::size_t divide_up(std::size_t amount, std::size_t by) { return (amount + by - 1) / by; }

}  // namespace

std::string_view name(Task task) { return kNames[static_cast<std::size_t>(task)]; }

bool is_further(Task task) {
    return std::find(kFurtherTasks.begin(), kFurtherTasks.end(), task) != kFurtherTasks.end();
}

bool is_limit(Task task) { return task >= Task::handoff && task <= Task::tcp_both; }

std::optional<Task> task_from(std::string_view name) {
    const auto found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) return std::nullopt;
    return static_cast<Task>(found - kNames.begin());
}

Shape shape_of(Task task, std::size_t bytes, int nranks) {
    const auto ranks = static_cast<std::size_t>(nranks);
    const std::size_t elements = divide_up(bytes, sizeof(float));
    const std::size_t block = divide_up(elements, ranks);
    switch (task) {
        case Task::allreduce:
        case Task::uneven:
        case Task::broadcast:
        case Task::scan:
        case Task::exscan:
        case Task::ping_pong:
        case Task::stream:
        case Task::put:
        case Task::tcp:
        case Task::tcp_both:
        case Task::copy: return {elements, elements, elements};
        case Task::add: return {elements, 2 * elements, elements};
        case Task::neighbours: return {elements, elements, 2 * elements};
        case Task::reduce_scatter:
        case Task::reduce_scatter_v: return {block, block * ranks, block};
        case Task::allgather:
        case Task::allgather_v: return {elements, elements, elements * ranks};
        case Task::all_to_all:
        case Task::all_to_all_v: return {block, block * ranks, block * ranks};
        case Task::barrier:
        case Task::handoff: return {};
    }
    return {};
}

}  // namespace peal::bench
