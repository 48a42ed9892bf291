// SPDX-License-Identifier: Apache-2.0
// Ring allreduce: every rank gives 256 floats and gets the sum of all. docs/worker.md walks through
// it.
//
//   ring_allreduce -p a2a3sim -d 0-3 --timings --trace out.json
#include <cstdio>
#include <string>
#include <vector>

#include "driver.hpp"
#include "peal/worker.hpp"

namespace {

using namespace peal;

constexpr std::size_t kCount = 256;

std::vector<float> input_of(std::size_t rank) {
    std::vector<float> input(kCount);
    for (std::size_t i = 0; i < kCount; ++i) input[i] = static_cast<float>(i + 100 * rank);
    return input;
}

std::vector<float> golden_of(std::size_t nranks) {
    std::vector<float> sum(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
        sum[i] = static_cast<float>(nranks * i + 50 * nranks * (nranks - 1));
    }
    return sum;
}

bool run(const examples::Options& options) {
    Worker worker = examples::start_worker(options);
    const auto nranks = static_cast<std::size_t>(worker.ranks());

    Collective sum;
    sum.kind = CollectiveKind::allreduce;
    sum.recipe = "ring";
    sum.count = kCount;
    const DeviceKernel ring(sum);

    const Domain domain =
        worker.allocate_domain({.name = "ring", .windows = ring.windows(worker.ranks())});

    std::vector<std::vector<float>> inputs, outputs(nranks, std::vector<float>(kCount));
    std::vector<Arguments> arguments;
    for (std::size_t rank = 0; rank < nranks; ++rank) inputs.push_back(input_of(rank));
    for (std::size_t rank = 0; rank < nranks; ++rank) {
        arguments.push_back(
            {Tensor(inputs[rank]), Tensor(outputs[rank]), domain["data"], domain["signal"]});
    }

    const Task task = worker.submit_group(ring, domain, arguments);
    task.wait();

    bool right = true;
    for (std::size_t rank = 0; rank < nranks; ++rank) {
        right &=
            examples::matches("rank " + std::to_string(rank), outputs[rank], golden_of(nranks));
    }
    examples::report(worker, options);
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    return examples::drive(argc, argv, "Adds up 256 floats of every rank, round a ring.", run);
}
