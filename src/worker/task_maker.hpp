// SPDX-License-Identifier: Apache-2.0
// Kernels and arguments become tasks. Whatever does not fit is found here, before anything is
// started.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "peal/worker.hpp"
#include "worker/arena.hpp"
#include "worker/kernel_store.hpp"
#include "worker/task_node.hpp"

namespace peal::worker {

// One device's part of a kernel, or all parts.
struct KernelCall {
    const DeviceKernel* kernel = nullptr;
    std::vector<int> devices;
    std::vector<Arguments> arguments;  // by member
    bool is_group = false;
    std::string name;  // empty: the kernel's
};
TaskPtr make_kernel_task(const Arena& arena, KernelStore& store, const KernelCall& call);

TaskPtr make_copy_task(const Arena& arena, const Tensor& from, const Tensor& to, std::string name);

TaskPtr make_host_task(const Arena& arena, std::function<void()> function, const Arguments& uses,
                       std::string name);

}  // namespace peal::worker
