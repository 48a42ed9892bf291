// SPDX-License-Identifier: Apache-2.0
// What takes part in the comparison: one process per rank, around one library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "meeting.hpp"
#include "pages.hpp"
#include "task.hpp"

namespace peal::bench {

// One call of the library. `iteration` counts the calls and is the same on all ranks; a broadcast
// takes its root from it.
using Operation = std::function<void(std::uint64_t iteration)>;

struct Job {
    Task task = Task::barrier;
    std::string_view way;
    Shape shape;
    float* input = nullptr;
    float* output = nullptr;
};

class Contender {
public:
    virtual ~Contender() = default;
    virtual int rank() const = 0;
    virtual int nranks() const = 0;

    // Makes ready whatever the library keeps for a call. All ranks bind the same job. Throws
    // std::exception when the library cannot do it.
    virtual Operation bind(const Job& job) = 0;

    // Memory for the buffers: private pages, the same for all, unless the library's own memory is
    // what is to be measured.
    virtual std::shared_ptr<float[]> memory(std::size_t count) { return pages(count); }

    // Whether the result replaces the input.
    virtual bool in_place() const { return false; }
};

inline int root_of(std::uint64_t iteration, int nranks) {
    return static_cast<int>(iteration % static_cast<std::uint64_t>(nranks));
}

// Who a rank plays with, and who its neighbours are in a ring.
inline int partner_of(int rank) { return rank ^ 1; }
inline int left_of(int rank, int nranks) { return (rank + nranks - 1) % nranks; }
inline int right_of(int rank, int nranks) { return (rank + 1) % nranks; }

}  // namespace peal::bench
