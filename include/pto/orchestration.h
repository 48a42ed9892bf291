// SPDX-License-Identifier: Apache-2.0
// What an orchestration shim uses: it takes the arguments of a task and submits a kernel with them.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor.h"

struct OrchestrationConfig {
    int expected_arg_count;
};

// The arguments of a task: its tensors, and its scalars, each counted from 0.
class TaskArgs {
public:
    TaskArgs(std::vector<ChipTensor> tensors, std::vector<std::int64_t> scalars)
        : tensors_(tensors), scalars_(scalars) {}

    const ChipTensor& tensor(int i) const { return tensors_.at(static_cast<std::size_t>(i)); }
    std::int64_t scalar(int i) const { return scalars_.at(static_cast<std::size_t>(i)); }

private:
    std::vector<ChipTensor> tensors_;
    std::vector<std::int64_t> scalars_;
};

// The arguments of a kernel, in the order in which it gets them.
class Arg {
public:
    enum class Access { in, out, inout };
    struct Memory {
        ChipTensor tensor;
        Access access;
    };

    void add_input(const ChipTensor& tensor) { memories_.push_back({tensor, Access::in}); }
    void add_output(const ChipTensor& tensor) { memories_.push_back({tensor, Access::out}); }
    void add_inout(const ChipTensor& tensor) { memories_.push_back({tensor, Access::inout}); }
    void add_scalar(std::int64_t value) { scalars_.push_back(value); }

    const std::vector<Memory>& memories() const { return memories_; }
    const std::vector<std::int64_t>& scalars() const { return scalars_; }

private:
    std::vector<Memory> memories_;
    std::vector<std::int64_t> scalars_;
};

// Runs kernel `func_id` of the program on one vector core. The runtime provides it.
void rt_submit_aiv_task(int func_id, const Arg& args);
