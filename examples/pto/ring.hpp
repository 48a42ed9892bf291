// SPDX-License-Identifier: Apache-2.0
// A ring: each rank reads from the one before it and is read by the one after it.
//
// The vector has as many parts as there are ranks. First the parts travel once round the ring and
// gather a contribution at each stop: rank r takes part r-2 in the first step, r-3 in the next, and
// has part r complete after nranks-1 steps. Then the complete parts travel on in the same way.
// All ranks get the same bits: a part is added up once.
#pragma once

#include "kernel_common.hpp"

namespace kernel {

class Ring {
public:
    // `direction` is 1 when data travels to higher ranks, -1 when to lower ones. Uses two rows of
    // signals from `first_row` on.
    AICORE Ring(const Team& team, Vector in, Vector data, int direction, int first_row,
                int32_t generation)
        : team_(team),
          in_(in),
          data_(data),
          direction_(direction),
          ready_row_(first_row),
          read_row_(first_row + 1),
          generation_(generation) {}

    AICORE int steps() const { return team_.nranks - 1; }

    // Puts my contribution to the part that the next rank takes first where it can read it, once it
    // has read all of the last call.
    AICORE void stage() const {
        team_.wait(read_row_, generation_);
        const int part = part_behind(1);
        copy(part_of_data(part).begin, part_of(in_, part, team_.nranks));
        tell_next(1);
    }

    // Steps 1 to steps(): adds my contribution to what has come so far.
    AICORE void reduce(int step) const {
        wait_for_previous(step);
        const int part = part_behind(step + 1);
        const Vector mine = part_of_data(part);
        __gm__ float* const sources[] = {team_.at(previous(), mine.begin),
                                         part_of(in_, part, team_.nranks).begin};
        add_up(mine, 2, [&](int i) { return sources[i]; });
        tell_next(step + 1);
    }

    // Steps 1 to steps(): takes over a complete part.
    AICORE void gather(int step) const {
        wait_for_previous(steps() + step);
        const Vector mine = part_of_data(part_behind(step));
        copy(mine.begin, team_.at(previous(), mine));
        if (step < steps()) tell_next(steps() + step + 1);
    }

    // The previous rank may use its window again.
    AICORE void leave() const {
        pipe_barrier(PIPE_ALL);
        team_.notify(previous(), read_row_, generation_ + 1);
    }

private:
    AICORE int previous() const { return team_.neighbour(-direction_); }
    AICORE int next() const { return team_.neighbour(direction_); }
    AICORE int part_behind(int steps) const { return team_.neighbour(-direction_ * steps); }
    AICORE Vector part_of_data(int part) const { return part_of(data_, part, team_.nranks); }

    AICORE int32_t ready(int step) const { return generation_ * 2 * steps() + step; }
    AICORE void tell_next(int step) const {
        team_.finish();
        team_.notify(next(), ready_row_, ready(step));
    }
    AICORE void wait_for_previous(int step) const { team_.wait(ready_row_, ready(step)); }

    const Team& team_;
    Vector in_, data_;
    int direction_;
    int ready_row_, read_row_;  // written by the previous rank, by the next rank
    int32_t generation_;
};

}  // namespace kernel
