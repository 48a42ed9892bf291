// SPDX-License-Identifier: Apache-2.0
// peal launch -n 4 hello
#include <cstdio>
#include <vector>

#include "peal/communicator.hpp"

int main() {
    peal::Communicator comm = peal::Communicator::connect();
    std::vector<int> numbers = {1, comm.rank()};
    comm.allreduce(numbers);
    std::printf("rank %d of %d: we are %d, and our ranks add up to %d\n", comm.rank(),
                comm.nranks(), numbers[0], numbers[1]);
}
