// SPDX-License-Identifier: Apache-2.0
// Two domains that share two devices: an arc from device 0 to the middle, and an arc from the
// middle back to device 0. Whoever is in both has another rank in each.
//
//   overlapping_domains -d 0-3      there {0, 1, 2}, back {2, 3, 0}
#include <cstdio>
#include <string>
#include <vector>

#include "driver.hpp"
#include "peal/worker.hpp"

namespace {

using namespace peal;

constexpr std::size_t kCount = 64;

// A domain, and a row for each of its ranks: what it gives, and what it gets.
struct Arc {
    Domain domain;
    std::vector<float> input, output;
};

Arc allocate(Worker& worker, const DeviceKernel& sum, const std::string& name,
             const std::vector<int>& ranks, float scale) {
    const std::vector<WindowSpec> windows = sum.windows(static_cast<int>(ranks.size()));
    Arc arc{worker.allocate_domain({.name = name, .ranks = ranks, .windows = windows}), {}, {}};
    for (const int device : ranks) {
        arc.input.insert(arc.input.end(), kCount, scale * static_cast<float>(device + 1));
    }
    arc.output.resize(arc.input.size());
    return arc;
}

Task submit_sum(Worker& worker, const DeviceKernel& sum, Arc& arc) {
    const std::vector<Tensor> gives = Tensor(arc.input).split(arc.domain.nranks());
    const std::vector<Tensor> gets = Tensor(arc.output).split(arc.domain.nranks());
    std::vector<Arguments> arguments;
    for (std::size_t rank = 0; rank < gives.size(); ++rank) {
        arguments.push_back({gives[rank], gets[rank], arc.domain["data"], arc.domain["signal"]});
    }
    return worker.submit_group(sum, arc.domain, arguments, {.name = arc.domain.name()});
}

bool is_right(const Arc& arc) {
    float sum = 0;
    for (std::size_t i = 0; i < arc.input.size(); i += kCount) sum += arc.input[i];
    const std::vector<float> golden(arc.output.size(), sum);
    std::string ranks;
    for (const int device : arc.domain.ranks()) ranks += " " + std::to_string(device);
    return examples::matches(arc.domain.name() + ", devices" + ranks, arc.output, golden);
}

bool run(const examples::Options& options) {
    Worker worker = examples::start_worker(options);
    const int middle = worker.ranks() / 2;
    std::vector<int> there, back;
    for (int device = 0; device <= middle; ++device) there.push_back(device);
    for (int device = middle; device < worker.ranks(); ++device) back.push_back(device);
    back.push_back(0);

    Collective collective;
    collective.count = kCount;
    const DeviceKernel sum(collective);
    Arc first = allocate(worker, sum, "there", there, 1);
    Arc second = allocate(worker, sum, "back", back, 1000);

    // Nothing that they read or write is shared, so neither waits for the other. A group starts on
    // all of its devices in the same order, so the two devices that are in both cannot disagree.
    submit_sum(worker, sum, first);
    submit_sum(worker, sum, second);
    worker.wait();
    examples::report(worker, options);

    const bool first_is_right = is_right(first), second_is_right = is_right(second);
    std::printf("device %d is rank %d there and rank %d back\n", middle,
                first.domain.rank_of(middle), second.domain.rank_of(middle));
    return first_is_right && second_is_right;
}

}  // namespace

int main(int argc, char** argv) {
    return examples::drive(argc, argv, "Adds up in two domains that overlap.", run);
}
