// SPDX-License-Identifier: Apache-2.0
// Allreduce round a ring in both directions at once, half of the vector in each: both directions of
// every link are used.
#include "ring.hpp"

extern "C" AICORE void kernel_entry(__gm__ int64_t* args) {
    using namespace kernel;
    const Vector in = vector_of(args[0]);
    const Vector out = vector_of(args[1]);
    const Vector window = vector_of(args[2]);
    const Team team(args[4], args[3], window);
    const int32_t generation = static_cast<int32_t>(args[5]);
    const Vector data{window.begin, in.count};
    const Ring up(team, part_of(in, 0, 2), part_of(data, 0, 2), 1, 0, generation);
    const Ring down(team, part_of(in, 1, 2), part_of(data, 1, 2), -1, 2, generation);

    up.stage();
    down.stage();
    for (int step = 1; step <= up.steps(); ++step) {
        up.reduce(step);
        down.reduce(step);
    }
    for (int step = 1; step <= up.steps(); ++step) {
        up.gather(step);
        down.gather(step);
    }
    up.leave();
    down.leave();
    copy(out.begin, data);
}
