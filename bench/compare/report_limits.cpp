// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "figures.hpp"
#include "machine.hpp"
#include "report.hpp"

namespace peal::bench {
namespace {

std::string figure(const std::optional<double>& us) { return us ? microseconds(*us) : "-"; }

std::vector<std::string> wire_row(const Results& results, const Choice& choice, Task task,
                                  const std::string& title) {
    std::vector<std::string> cells = {title};
    for (const std::size_t bytes : choice.sizes) {
        cells.push_back(figure(wire_us(results, task, bytes, State::near)));
    }
    return cells;
}

}  // namespace

std::string wire_table(const Results& results, const Choice& choice) {
    std::vector<std::string> titles = {"µs"};
    for (const std::size_t bytes : choice.sizes) titles.push_back(size_text(bytes));
    const auto row = [&](Task task, const std::string& title) {
        return table_row(wire_row(results, choice, task, title));
    };
    return "### The network's limits\n\nOne rank on each of two hosts.\n\n" + table_head(titles) +
           row(Task::put, "put by UCX and ring, one way") + row(Task::tcp, "TCP, one way") +
           row(Task::tcp_both, "TCP, both ways at once: bound for allreduce") + "\n";
}

std::string limits_table(const Results& results, const Choice& choice) {
    std::vector<std::string> titles = {"µs"};
    std::vector<std::string> copies = {"copy, both cores at once"};
    std::vector<std::string> adds = {"add two arrays into a third, both cores at once"};
    std::vector<std::string> bounds = {"bound for allreduce, 2 ranks, private buffers"};
    std::vector<std::string> window_bounds = {"the same, buffers in windows"};
    for (const std::size_t bytes : choice.sizes) {
        if (!copy_us(results, bytes, State::near)) continue;
        titles.push_back(size_text(bytes));
        copies.push_back(figure(copy_us(results, bytes, State::near)));
        adds.push_back(figure(add_us(results, bytes, State::near)));
        bounds.push_back(figure(allreduce_bound_us(results, bytes, State::near)));
        window_bounds.push_back(figure(window_allreduce_bound_us(results, bytes, State::near)));
    }
    return fmt::format(
               "### The machine's limits\n\nNear, where it was seen. A cache line from one process "
               "to the other: {} "
               "µs.\n\n",
               figure(handoff_us(results, State::near))) +
           table_head(titles) + table_row(copies) + table_row(adds) + table_row(bounds) +
           table_row(window_bounds) + "\n";
}

}  // namespace peal::bench
