// SPDX-License-Identifier: Apache-2.0
// Forwards three tensors and two scalars; older names.
#include <stdint.h>

#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig ring_allreduce_config(
    const ChipStorageTaskArgs& args) {
    (void)args;
    return PTO2OrchestrationConfig{.expected_arg_count = 5};
}

__attribute__((visibility("default"))) void ring_allreduce(const ChipStorageTaskArgs& args) {
    Tensor input = from_tensor_arg(args.tensor(0));
    Tensor output = from_tensor_arg(args.tensor(1));
    Tensor scratch = from_tensor_arg(args.tensor(2));
    Arg task;
    task.add_input(input);
    task.add_output(output);
    task.add_inout(scratch);
    task.add_scalar(args.scalar(0));
    task.add_scalar(args.scalar(1));
    rt_submit_aiv_task(0, task);
}
}
