// SPDX-License-Identifier: Apache-2.0
// The collectives, one after the other on one worker. A row of the table says what each rank gives,
// and what it must get; all else is the same for all of them.
//
//   collectives -p a2a3sim -d 0-3
#include <cstddef>
#include <string>
#include <vector>

#include "driver.hpp"
#include "peal/collective.hpp"
#include "peal/worker.hpp"

namespace {

using namespace peal;

constexpr std::size_t kBlock = 64;  // elements per rank; an allreduce has 256
constexpr int kRoot = 1;

// One element of a rank's input or result. P is the number of ranks.
using Value = std::size_t (*)(std::size_t rank, std::size_t i, std::size_t P);

struct Row {
    CollectiveKind kind;
    const char* recipe;
    std::size_t count;
    Value input;
    Value golden;
};

std::size_t plain_input(std::size_t rank, std::size_t i, std::size_t) { return i + 100 * rank; }
std::size_t blocks_input(std::size_t rank, std::size_t i, std::size_t) {
    return 1000 * rank + 100 * (i / kBlock) + i % kBlock;  // says from whom and to whom
}

std::size_t sum_of_all(std::size_t, std::size_t i, std::size_t P) {
    return P * i + 100 * P * (P - 1) / 2;
}
std::size_t my_block_of_the_sum(std::size_t rank, std::size_t i, std::size_t P) {
    return sum_of_all(rank, kBlock * rank + i, P);
}
std::size_t everybodys_block(std::size_t, std::size_t i, std::size_t) {
    return 100 * (i / kBlock) + i % kBlock;
}
std::size_t roots_block(std::size_t, std::size_t i, std::size_t) { return 100 * kRoot + i; }
std::size_t blocks_for_me(std::size_t rank, std::size_t i, std::size_t) {
    return 1000 * (i / kBlock) + 100 * rank + i % kBlock;
}

constexpr Row kTable[] = {
    {CollectiveKind::allreduce, "ring", 4 * kBlock, plain_input, sum_of_all},
    {CollectiveKind::allreduce, "mesh", 4 * kBlock, plain_input, sum_of_all},
    {CollectiveKind::reduce_scatter, "mesh", kBlock, plain_input, my_block_of_the_sum},
    {CollectiveKind::allgather, "mesh", kBlock, plain_input, everybodys_block},
    {CollectiveKind::broadcast, "mesh", kBlock, plain_input, roots_block},
    {CollectiveKind::all_to_all, "mesh", kBlock, blocks_input, blocks_for_me},
};

Collective collective_of(const Row& row) {
    Collective collective;
    collective.kind = row.kind;
    collective.recipe = row.recipe;
    collective.count = row.count;
    collective.root = has_root(row.kind) ? kRoot : 0;
    return collective;
}

// What `value` says of every rank's elements, rank after rank in one vector.
std::vector<float> all_ranks(Value value, std::size_t count, std::size_t nranks) {
    std::vector<float> all;
    for (std::size_t rank = 0; rank < nranks; ++rank) {
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(static_cast<float>(value(rank, i, nranks)));
        }
    }
    return all;
}

bool run_row(Worker& worker, const Row& row) {
    const int nranks = worker.ranks();
    const auto P = static_cast<std::size_t>(nranks);
    const Collective collective = collective_of(row);
    const DeviceKernel kernel(collective);
    const Domain domain =
        worker.allocate_domain({.name = kernel.name(), .windows = kernel.windows(nranks)});

    const std::vector<float> input = all_ranks(row.input, input_count(collective, 0, nranks), P);
    const std::vector<float> golden = all_ranks(row.golden, output_count(collective, 0, nranks), P);
    std::vector<float> output(golden.size());
    const std::vector<Tensor> gives = Tensor(input).split(nranks);
    const std::vector<Tensor> gets = Tensor(output).split(nranks);

    std::vector<Arguments> arguments;
    for (std::size_t rank = 0; rank < P; ++rank) {
        arguments.push_back({gives[rank], gets[rank], domain["data"], domain["signal"]});
    }
    worker.submit_group(kernel, domain, arguments).wait();
    return examples::matches(std::string(row.recipe) + " " + kernel.name(), output, golden);
}

bool run(const examples::Options& options) {
    Worker worker = examples::start_worker(options);
    bool right = true;
    for (const Row& row : kTable) right &= run_row(worker, row);
    examples::report(worker, options);
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    return examples::drive(argc, argv, "Runs the collectives and compares with golden.", run);
}
