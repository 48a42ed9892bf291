// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/task_node.hpp"

namespace peal::worker {

// Whether the windows of a task's domains are as a kernel expects them. Throws Error(wrong) if a
// task ended in the middle of using them, Error(usage) if a group finds its ranks at different
// generations.
void expect_fit_domains(const TaskNode& task);

}  // namespace peal::worker
