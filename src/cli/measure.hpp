// SPDX-License-Identifier: Apache-2.0
// How long collective calls take between the ranks of a communicator. All of it on float32, sums
// where there is a reduction.
//
//   meet; t0; k calls back to back; t1       a batch; its time is the slowest rank's (t1 - t0) / k
//
// k is such that a batch takes about a millisecond. Buffers are the same in every call. The root
// goes round, so that no rank runs ahead of those that wait for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "peal/collective.hpp"
#include "peal/communicator.hpp"

namespace peal::cli {

struct Load {
    CollectiveKind kind = CollectiveKind::barrier;
    bool on_window = false;
    std::uint64_t count = 0;  // elements, as in peal::Collective
};

// The count with which the input of one rank has `bytes`, rounded up to whole elements, and to
// whole blocks where the input has one for each rank.
std::uint64_t count_for(CollectiveKind kind, std::uint64_t bytes, int nranks);
std::uint64_t input_bytes(const Load& load, int nranks);

// Whether a communicator has the collective as a call on a window.
bool is_called_on_windows(CollectiveKind kind);

struct Timing {
    double median = 0, least = 0;  // seconds per call
    std::uint32_t recipe = 0;      // which of recipes(kind) was used; their number: one for hosts
    bool was_measured = false;
};

struct MeasureOptions {
    double seconds = 0.1;     // of timed batches for each load, about
    std::string_view recipe;  // if not empty: loads that get another one are left out
};

// Throws Error(resource) when this machine has too little memory for the buffers of the loads of
// `here` of the ranks.
void expect_memory_for(const std::vector<Load>& loads, int nranks, int here);

// Measures all loads, in order. All ranks must call, and get the same.
std::vector<Timing> measure(Communicator& comm, const std::vector<Load>& loads,
                            const MeasureOptions& options);

// The same of n ranks that it forks. Throws Error when the machine has too little memory for them
// or a rank failed.
std::vector<Timing> measure(int nranks, const std::vector<Load>& loads,
                            const MeasureOptions& options);

}  // namespace peal::cli
