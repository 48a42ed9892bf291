// SPDX-License-Identifier: Apache-2.0
// What is measured: the collectives, messages, and the machine's own limits. All of it on float32,
// sums where there is a reduction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace peal::bench {

enum class Task : std::uint8_t {
    allreduce,
    reduce_scatter,
    allgather,
    broadcast,
    all_to_all,
    barrier,
    scan,
    exscan,
    allgather_v,       // with equal counts, as allgather
    reduce_scatter_v,  // with equal counts, as reduce_scatter
    all_to_all_v,      // with equal counts that each rank knows of its own pieces only
    ping_pong,         // ranks 2k and 2k + 1 send each other a message, one after the other
    stream,            // ranks 2k send to ranks 2k + 1, message after message
    neighbours,        // in a ring: a message to each neighbour, and one from it
    handoff,           // a cache line goes from one process to another
    copy,              // every rank copies its own memory at the same time
    add,               // every rank adds two arrays of its own into a third
    put,               // between hosts: one rank puts to the other, by UCX, in turn
    tcp,               // the same as a stream of TCP
    tcp_both,          // and both to each other at once
    uneven,            // an allreduce after 10 ms of computation, 11 ms on one rank in turn
};

inline constexpr std::array kCollectiveTasks = {Task::allreduce,  Task::reduce_scatter,
                                                Task::allgather,  Task::broadcast,
                                                Task::all_to_all, Task::barrier};

// What else a program ported from MPI calls: measured by themselves, or when they are named.
inline constexpr std::array kFurtherTasks = {
    Task::scan,         Task::exscan,    Task::allgather_v, Task::reduce_scatter_v,
    Task::all_to_all_v, Task::ping_pong, Task::stream,      Task::neighbours};
bool is_further(Task task);

// The machine's own limits: nobody's call.
bool is_limit(Task task);

std::string_view name(Task task);
std::optional<Task> task_from(std::string_view name);

// Elements of a rank's buffers.
struct Shape {
    std::size_t block = 0;  // what one rank gives to or gets from one other
    std::size_t input = 0;
    std::size_t output = 0;
};

// `bytes` is the input of one rank, rounded up to whole elements, and to whole blocks where the
// input has one for each rank.
Shape shape_of(Task task, std::size_t bytes, int nranks);

}  // namespace peal::bench
