// SPDX-License-Identifier: Apache-2.0
// compiles: one header is enough, variables are buffers, and so are integers without a sign.
#include "peal/communicator.hpp"

void right(peal::Communicator& comm) try {
    float loss = 1;
    comm.allreduce(loss);
    comm.start_allreduce(loss, peal::ReduceOp::max).wait();
    std::uint64_t count = 1;
    const std::uint64_t mine = 2;
    comm.reduce(mine, count, peal::ReduceOp::sum, 0);
    comm.broadcast(count, 1);
    comm.broadcast(count, count);  // the root may be any integer
    const int rank = 1;
    int ranks = 0;
    comm.allreduce(rank, ranks);
    std::vector<std::uint32_t> all(4);
    comm.allgather(std::uint32_t{3}, all);
    comm.allgather(peal::Memory(&count, 1, peal::Element::u64), peal::Memory());
    comm.allreduce(comm.window<std::uint16_t>(8));
    const std::vector<double> input(2);
    std::array<double, 2> output{};
    comm.prepare_allreduce(input, output, peal::ReduceOp::min).run();
    comm.allreduce(std::span(output));
    comm.send(input, 1);
    comm.recv(loss, 1);
    comm.start_sendrecv(rank, 1, output, 2).wait();
    comm.exchange({{1, input, output}, {2, rank, all}});
    std::vector<peal::Neighbour> neighbours = {{1, input, output}};
    neighbours.emplace_back(2, peal::Memory(), loss);
    comm.start_exchange(neighbours).wait();
    comm.exchange(neighbours, peal::CallSite::here());
    comm.exchange({});
    std::vector<int> counts = {1, 1};  // as MPI has them
    const std::vector<std::int64_t> offsets = {0, 1};
    comm.allgather_v(input, output, counts);
    comm.allgather_v(input, output, {1, 1});
    comm.start_reduce_scatter_v(input, output, std::array<long, 2>{1, 1}).wait();
    comm.prepare_all_to_all_v(input, output, std::vector<unsigned>(4, 1)).run();
    comm.all_to_all_v(input, output, {counts, offsets}, {counts});
    comm.all_to_all_v(input, output, peal::Pieces{counts}, peal::Pieces{{1, 1}});
} catch (const peal::Error&) {
}
