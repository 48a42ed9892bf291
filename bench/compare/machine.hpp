// SPDX-License-Identifier: Apache-2.0
// The machine's own limits as measured in the run, and the bound for allreduce that follows.
#pragma once

#include <optional>

#include "results.hpp"

namespace peal::bench {

// Each as measured in the given state; if it was never in it, in the one that counts there.

// A cache line from one process to another.
std::optional<double> handoff_us(const Results& results, State state);

// Both cores at once, each its own `bytes`; with the best kind of stores.
std::optional<double> copy_us(const Results& results, std::size_t bytes, State state);
std::optional<double> add_us(const Results& results, std::size_t bytes, State state);

// Between two hosts: Task::put, tcp or tcp_both. The last is the bound for allreduce on two hosts,
// each of which must give and take as many bytes as the vector has.
std::optional<double> wire_us(const Results& results, Task task, std::size_t bytes, State state);

// No allreduce of two ranks on private buffers can take less: docs/benchmarks.md derives it.
std::optional<double> allreduce_bound_us(const Results& results, std::size_t bytes, State state);
// The same for buffers in windows.
std::optional<double> window_allreduce_bound_us(const Results& results, std::size_t bytes,
                                                State state);

// What an allgather, a broadcast or an all_to_all of two ranks must copy, on both cores at once.
std::optional<double> copying_bound_us(const Results& results, Task task, std::size_t bytes,
                                       State state);

}  // namespace peal::bench
