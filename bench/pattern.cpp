// SPDX-License-Identifier: Apache-2.0
#include "pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peal::bench {
namespace {

constexpr std::size_t kLooks = 200;

float given(int rank, std::size_t index) {
    return static_cast<float>(rank + 1) + static_cast<float>(index % 8);
}

// Of the ranks before `end`.
float sum_of(int end, std::size_t index) {
    float sum = 0;
    for (int r = 0; r < end; ++r) sum += given(r, index);
    return sum;
}

float expected(const Job& job, int rank, int nranks, std::size_t index) {
    const std::size_t block = job.shape.block;
    const auto own = static_cast<std::size_t>(rank) * block;
    switch (job.task) {
        case Task::uneven:
        case Task::allreduce: return sum_of(nranks, index);
        case Task::reduce_scatter:
        case Task::reduce_scatter_v: return sum_of(nranks, own + index);
        case Task::scan: return sum_of(rank + 1, index);
        case Task::exscan: return sum_of(rank, index);
        case Task::allgather:
        case Task::allgather_v: return given(static_cast<int>(index / block), index % block);
        case Task::all_to_all:
        case Task::all_to_all_v: return given(static_cast<int>(index / block), own + index % block);
        case Task::broadcast: return given(0, index);
        case Task::ping_pong:
        case Task::put:
        case Task::tcp:
        case Task::tcp_both:
        case Task::stream: return given(partner_of(rank), index);
        case Task::neighbours:
            return given(index < block ? left_of(rank, nranks) : right_of(rank, nranks),
                         index % block);
        case Task::copy: return given(rank, index);
        case Task::add: return given(rank, index) + given(rank, block + index);
        case Task::barrier:
        case Task::handoff: break;
    }
    return 0;
}

}  // namespace

void fill_input(const Job& job, int rank) {
    for (std::size_t i = 0; i < job.shape.input; ++i) job.input[i] = given(rank, i);
}

std::string find_wrong(const Job& job, int rank, int nranks) {
    // The root of a broadcast keeps its input where it is.
    if (job.task == Task::broadcast && rank == 0) return {};
    // Who sends gets nothing, or not at first.
    const bool has_sender =
        job.task == Task::stream || job.task == Task::put || job.task == Task::tcp;
    if (has_sender && rank < partner_of(rank)) return {};
    // Rank 0 of an exscan gets nothing.
    if (job.task == Task::exscan && rank == 0) return {};
    // An odd step: it looks at every residue of the pattern and of the vectors.
    const std::size_t step = (job.shape.output / kLooks) | 1;
    for (std::size_t i = 0; i < job.shape.output; i += step) {
        const float want = expected(job, rank, nranks, i);
        if (job.output[i] != want) {
            return fmt::format("{}: rank {} has {} at element {}, expected {}", name(job.task),
                               rank, job.output[i], i, want);
        }
    }
    return {};
}

}  // namespace peal::bench
