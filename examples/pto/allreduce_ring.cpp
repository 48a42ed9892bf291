// SPDX-License-Identifier: Apache-2.0
// Allreduce round a ring. For long vectors: each rank reads 2 (nranks-1) / nranks of one.
#include "ring.hpp"

extern "C" AICORE void kernel_entry(__gm__ int64_t* args) {
    using namespace kernel;
    const Vector in = vector_of(args[0]);
    const Vector out = vector_of(args[1]);
    const Vector window = vector_of(args[2]);
    const Team team(args[4], args[3], window);
    const Vector data{window.begin, in.count};
    const Ring ring(team, in, data, 1, 0, static_cast<int32_t>(args[5]));

    ring.stage();
    for (int step = 1; step <= ring.steps(); ++step) ring.reduce(step);
    for (int step = 1; step <= ring.steps(); ++step) ring.gather(step);
    ring.leave();
    copy(out.begin, data);
}
