// SPDX-License-Identifier: Apache-2.0
// Tensor parallelism: x += relu(x W1) W2, three layers of it. Each rank holds some of the hidden
// units, that is columns of W1 and rows of W2, and computes what these contribute; an allreduce
// adds the contributions up. Two stages per rank and layer, and nobody waits in between: the order
// follows from what the tasks read and write.
//
//   feed_forward -d 0-3 --trace out.json
#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "driver.hpp"
#include "peal/program.hpp"
#include "peal/worker.hpp"

namespace {

using namespace peal;

constexpr std::size_t kTokens = 8, kWidth = 32, kHidden = 96, kLayers = 3;

// Both matrices with one row of kWidth per hidden unit, so that a rank's part is a slice.
struct Layer {
    std::vector<float> w1, w2;
};

std::vector<float> random_values(std::size_t count, std::mt19937& random) {
    std::uniform_real_distribution<float> uniform(-0.2F, 0.2F);
    std::vector<float> values(count);
    for (float& value : values) value = uniform(random);
    return values;
}

// Stage 1, also the reference when it gets all hidden units.
void contribute(std::span<const float> x, std::span<const float> w1, std::span<const float> w2,
                std::span<float> sum) {
    std::fill(sum.begin(), sum.end(), 0.0F);
    for (std::size_t t = 0; t < kTokens; ++t) {
        for (std::size_t h = 0; h < w1.size(); h += kWidth) {
            float active = 0;
            for (std::size_t i = 0; i < kWidth; ++i) active += x[t * kWidth + i] * w1[h + i];
            active = std::max(active, 0.0F);
            for (std::size_t i = 0; i < kWidth; ++i) sum[t * kWidth + i] += active * w2[h + i];
        }
    }
}

// Stage 2. The language has no matrix product, so stage 1 is a task of the host on memory of the
// device; this is where the ranks meet.
constexpr const char* kMeet = R"(
kernel add_up(part: in f32[n], x: inout f32[n], data: window f32[n], sig: window i32[nranks]) {
    data = part
    data = allreduce(data, sig)
    x = x + data
}
)";

std::vector<float> reference(std::vector<float> x, const std::vector<Layer>& layers) {
    std::vector<float> sum(x.size());
    for (const Layer& layer : layers) {
        contribute(x, layer.w1, layer.w2, sum);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += sum[i];
    }
    return x;
}

// A rank's hidden units of a matrix, on its device for good.
Tensor shard(Worker& worker, const std::vector<float>& matrix, int rank) {
    const auto ranks = static_cast<std::size_t>(worker.ranks()), r = static_cast<std::size_t>(rank);
    const Tensor whole(matrix, {kHidden, kWidth});
    const Tensor part = whole.slice(kHidden * r / ranks, kHidden * (r + 1) / ranks);
    const Tensor resident = worker.alloc(rank, part.element(), part.shape());
    worker.upload(part, resident);
    return resident;
}

// What a rank keeps on its device.
struct Rank {
    Tensor x, part;
    std::vector<Tensor> w1, w2;  // by layer
};

Rank prepare(Worker& worker, int rank, const std::vector<float>& x,
             const std::vector<Layer>& layers) {
    Rank prepared{
        worker.alloc<float>(rank, {x.size()}), worker.alloc<float>(rank, {x.size()}), {}, {}};
    worker.upload(Tensor(x), prepared.x);
    for (const Layer& layer : layers) {
        prepared.w1.push_back(shard(worker, layer.w1, rank));
        prepared.w2.push_back(shard(worker, layer.w2, rank));
    }
    return prepared;
}

void submit_layer(Worker& worker, const DeviceKernel& add_up, const Domain& domain,
                  const std::vector<Rank>& ranks, std::size_t l) {
    std::vector<Arguments> arguments;
    for (const Rank& rank : ranks) {
        worker.submit_host(
            [x = rank.x, w1 = rank.w1[l], w2 = rank.w2[l], part = rank.part] {
                contribute(x.span<const float>(), w1.span<const float>(), w2.span<const float>(),
                           part.span<float>());
            },
            {in(rank.x), in(rank.w1[l]), in(rank.w2[l]), out(rank.part)}, {.name = "contribute"});
        arguments.push_back({rank.part, rank.x, domain["data"], domain["sig"]});
    }
    worker.submit_group(add_up, domain, arguments);
}

bool run(const examples::Options& options) {
    std::mt19937 random(1);
    const std::vector<float> x = random_values(kTokens * kWidth, random);
    std::vector<Layer> layers;
    for (std::size_t l = 0; l < kLayers; ++l) {
        layers.push_back({random_values(kHidden * kWidth, random),  //
                          random_values(kHidden * kWidth, random)});
    }

    Worker worker = examples::start_worker(options);
    const auto cells = static_cast<std::uint64_t>(worker.ranks());
    const DeviceKernel add_up(parse(std::make_shared<Source>("add_up.peal", kMeet)));
    const Domain domain = worker.allocate_domain(
        {.name = "all",
         .windows = {{.name = "data", .shape = {x.size()}},
                     {.name = "sig", .element = Element::i32, .cells = cells}}});

    std::vector<Rank> ranks;
    for (int r = 0; r < worker.ranks(); ++r) ranks.push_back(prepare(worker, r, x, layers));
    for (std::size_t l = 0; l < kLayers; ++l) submit_layer(worker, add_up, domain, ranks, l);
    worker.wait();
    examples::report(worker, options);

    bool right = true;
    const std::vector<float> golden = reference(x, layers);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        right &= examples::matches("rank " + std::to_string(r), ranks[r].x.span<float>(), golden);
    }
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    return examples::drive(argc, argv, "A tensor-parallel feed-forward network.", run);
}
