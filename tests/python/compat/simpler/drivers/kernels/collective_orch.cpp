// SPDX-License-Identifier: Apache-2.0
// Forwards three tensors and all scalars, as older shims do.
#include <stdint.h>

#include "pto_orchestration_api.h"

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig collective_config(
    const ChipStorageTaskArgs& args) {
    (void)args;
    return PTO2OrchestrationConfig{.expected_arg_count = 5};
}

__attribute__((visibility("default"))) void collective(const ChipStorageTaskArgs& args) {
    Tensor input = from_tensor_arg(args.tensor(0));
    Tensor output = from_tensor_arg(args.tensor(1));
    Tensor scratch = from_tensor_arg(args.tensor(2));
    Arg task;
    task.add_input(input);
    task.add_output(output);
    task.add_inout(scratch);
    for (int i = 0; i < args.scalar_count(); ++i) task.add_scalar(args.scalar(i));
    rt_submit_aiv_task(0, task);
}
}
