// SPDX-License-Identifier: Apache-2.0
// An MPI library as a contender. Compiled once for each MPI.
#include <mpi.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "contender_main.hpp"

namespace peal::bench {
namespace {

class MpiContender final : public Contender {
public:
    MpiContender() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &nranks_);
    }
    int rank() const override { return rank_; }
    int nranks() const override { return nranks_; }
    Operation bind(const Job& job) override;

private:
    Operation bind_reduce_scatter(const Job& job);
    Operation bind_allgather_v(const Job& job);
    Operation bind_all_to_all_v(const Job& job);
    Operation bind_neighbours(const Job& job);
    // Equal pieces, one for each rank, and where they begin.
    std::vector<int> counts_of(const Job& job) const {
        return std::vector<int>(static_cast<std::size_t>(nranks_),
                                static_cast<int>(job.shape.block));
    }
    std::vector<int> offsets_of(const Job& job) const {
        std::vector<int> offsets(static_cast<std::size_t>(nranks_));
        for (int r = 0; r < nranks_; ++r) {
            offsets[static_cast<std::size_t>(r)] = r * static_cast<int>(job.shape.block);
        }
        return offsets;
    }
    int rank_ = 0;
    int nranks_ = 0;
};

Operation MpiContender::bind(const Job& job) {
    const float* in = job.input;
    float* out = job.output;
    const int count = static_cast<int>(job.shape.block);
    switch (job.task) {
        case Task::allreduce:
            return [=](std::uint64_t) {
                MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
            };
        case Task::reduce_scatter: return bind_reduce_scatter(job);
        case Task::allgather:
            return [=](std::uint64_t) {
                MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, MPI_COMM_WORLD);
            };
        case Task::broadcast:
            return [=, this, input = job.input](std::uint64_t iteration) {
                const int root = root_of(iteration, nranks_);
                MPI_Bcast(root == rank_ ? input : out, count, MPI_FLOAT, root, MPI_COMM_WORLD);
            };
        case Task::all_to_all:
            return [=](std::uint64_t) {
                MPI_Alltoall(in, count, MPI_FLOAT, out, count, MPI_FLOAT, MPI_COMM_WORLD);
            };
        case Task::scan:
            return [=](std::uint64_t) {
                MPI_Scan(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
            };
        case Task::exscan:
            return [=](std::uint64_t) {
                MPI_Exscan(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
            };
        case Task::allgather_v: return bind_allgather_v(job);
        case Task::reduce_scatter_v: return bind_reduce_scatter(job);
        case Task::all_to_all_v: return bind_all_to_all_v(job);
        case Task::ping_pong:
            return [=, this, peer = partner_of(rank_)](std::uint64_t) {
                if (rank_ < peer) MPI_Send(in, count, MPI_FLOAT, peer, 0, MPI_COMM_WORLD);
                MPI_Recv(out, count, MPI_FLOAT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (rank_ > peer) MPI_Send(in, count, MPI_FLOAT, peer, 0, MPI_COMM_WORLD);
            };
        case Task::stream:
            return [=, this, peer = partner_of(rank_)](std::uint64_t) {
                if (rank_ < peer) {
                    MPI_Send(in, count, MPI_FLOAT, peer, 0, MPI_COMM_WORLD);
                } else {
                    MPI_Recv(out, count, MPI_FLOAT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                }
            };
        case Task::neighbours: return bind_neighbours(job);
        case Task::barrier: return [=](std::uint64_t) { MPI_Barrier(MPI_COMM_WORLD); };
        default: throw std::runtime_error("not for MPI: " + std::string(name(job.task)));
    }
}

// Which of the two calls is quicker depends on the library and the size.
Operation MpiContender::bind_reduce_scatter(const Job& job) {
    const float* in = job.input;
    float* out = job.output;
    const int count = static_cast<int>(job.shape.block);
    if (job.way == "block") {
        return [=](std::uint64_t) {
            MPI_Reduce_scatter_block(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        };
    }
    return [=, counts = counts_of(job)](std::uint64_t) {
        MPI_Reduce_scatter(in, out, counts.data(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    };
}

Operation MpiContender::bind_allgather_v(const Job& job) {
    const float* in = job.input;
    float* out = job.output;
    const int count = static_cast<int>(job.shape.block);
    return [=, counts = counts_of(job), offsets = offsets_of(job)](std::uint64_t) {
        MPI_Allgatherv(in, count, MPI_FLOAT, out, counts.data(), offsets.data(), MPI_FLOAT,
                       MPI_COMM_WORLD);
    };
}

Operation MpiContender::bind_all_to_all_v(const Job& job) {
    const float* in = job.input;
    float* out = job.output;
    return [=, counts = counts_of(job), offsets = offsets_of(job)](std::uint64_t) {
        MPI_Alltoallv(in, counts.data(), offsets.data(), MPI_FLOAT, out, counts.data(),
                      offsets.data(), MPI_FLOAT, MPI_COMM_WORLD);
    };
}

// A ring of two ranks has two messages each way, told apart by their tags.
Operation MpiContender::bind_neighbours(const Job& job) {
    const float* in = job.input;
    float* out = job.output;
    const int count = static_cast<int>(job.shape.block);
    if (job.way == "topology") {
        const int is_periodic = 1;
        MPI_Comm ring = MPI_COMM_NULL;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &nranks_, &is_periodic, 0, &ring);
        return [=](std::uint64_t) {
            const int counts[] = {count, count}, sent_at[] = {0, 0}, received_at[] = {0, count};
            MPI_Neighbor_alltoallv(in, counts, sent_at, MPI_FLOAT, out, counts, received_at,
                                   MPI_FLOAT, ring);
        };
    }
    return [=, left = left_of(rank_, nranks_), right = right_of(rank_, nranks_)](std::uint64_t) {
        MPI_Request requests[4];
        MPI_Irecv(out, count, MPI_FLOAT, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(out + count, count, MPI_FLOAT, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(in, count, MPI_FLOAT, right, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(in, count, MPI_FLOAT, left, 1, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    };
}

}  // namespace
}  // namespace peal::bench

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    peal::bench::MpiContender contender;
    const int status = argc == 2 ? peal::bench::serve(contender, argv[1]) : 2;
    MPI_Finalize();
    return status;
}
