// SPDX-License-Identifier: Apache-2.0
// What docs/coming_from_mpi.md ports: the mean and the extremes of numbers that are spread over the
// ranks.
//
//   peal launch -n 4 mean
#include <cstdint>
#include <cstdio>
#include <vector>

#include "peal/communicator.hpp"

int main() try {
    peal::Communicator comm = peal::Communicator::connect();
    const int rank = comm.rank();
    const int ranks = comm.nranks();

    std::uint64_t bound = rank == 0 ? 1000 : 0;  // only the root knows it
    comm.broadcast(bound);

    double sum = 0;
    std::uint64_t count = 0;
    for (std::uint64_t i = static_cast<std::uint64_t>(rank); i < bound;
         i += static_cast<std::uint64_t>(ranks)) {
        sum += static_cast<double>(i);
        ++count;
    }

    peal::Pending sums = comm.start_allreduce(sum);
    peal::Pending counts = comm.start_allreduce(count);
    counts.wait();
    sums.wait();

    std::vector<int> everybody(static_cast<std::size_t>(rank == 0 ? ranks : 0));
    comm.gather(rank, everybody);
    if (rank == 0) {
        std::printf("%zu ranks, %llu numbers, mean %.1f\n", everybody.size(),
                    static_cast<unsigned long long>(count), sum / static_cast<double>(count));
    }
} catch (const peal::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
