// SPDX-License-Identifier: Apache-2.0
// Shims as they are written today.
#include <stdint.h>

#include "platform_comm/comm_context.h"
#include "pto_orchestration_api.h"

extern "C" {

// input, output.
__attribute__((visibility("default"))) void twice(const ChipTaskArgs& args) {
    CoreTaskArgs task;
    task.add_input(args.tensor(0).ref());
    task.add_output(args.tensor(1).ref());
    rt_submit_aiv_task(0, task);
}

// input, output: twice, through a tensor that the runtime creates.
__attribute__((visibility("default"))) void four_times(const ChipTaskArgs& args) {
    const ChipTensor& input = args.tensor(0).ref();
    TensorCreateInfo between(input.shapes, input.ndims, input.dtype);
    CoreTaskArgs first, second;
    first.add_input(input);
    first.add_output(between);
    const TaskOutputTensors made = rt_submit_aiv_task(0, first);
    second.add_input(made.get_ref(0));
    second.add_output(args.tensor(1).ref());
    rt_submit_aiv_task(0, second);
}

__attribute__((visibility("default"))) PTO2OrchestrationConfig allreduce_config(
    const ChipTaskArgs& args) {
    (void)args;
    return PTO2OrchestrationConfig{.expected_arg_count = 5};
}

// input, output, window; nranks, context, sync to leave out. Two kernels on one window, which the
// first is told of by its address.
__attribute__((visibility("default"))) void allreduce(const ChipTaskArgs& args) {
    const ChipTensor& window = args.tensor(2).ref();
    PTO2_SCOPE() {
        CoreTaskArgs stage;
        stage.add_input(args.tensor(0).ref());
        stage.add_scalar(window.buffer.addr, args.scalar(0), args.scalar(1));
        rt_submit_aiv_task(0, stage);
        CoreTaskArgs sum;
        sum.add_output(args.tensor(1).ref());
        sum.add_inout(window);
        for (int i = 0; i < args.scalar_count(); ++i) sum.add_scalar(args.scalar(i));
        rt_submit_aiv_task(7, sum);
    }
    LOG_INFO("submitted for %d ranks", static_cast<int>(args.scalar(0)));
}
}
