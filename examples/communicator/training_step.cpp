// SPDX-License-Identifier: Apache-2.0
// Data-parallel training: every rank holds the whole model and sees a batch of its own. Each step
// averages the gradients of all ranks, so that all models stay the same, bit for bit.
//
//   peal launch -n 4 training_step
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

#include "peal/communicator.hpp"

namespace {

constexpr std::size_t kHidden = 16;
constexpr std::size_t kBatch = 64;
constexpr int kSteps = 1000;
constexpr float kRate = 0.2F;

// y = sum of out[j] * tanh(in[j] * x + bias[j]), as one vector: in, bias, out.
using Weights = std::array<float, 3 * kHidden>;

Weights same_start_everywhere() {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    Weights weights;
    for (float& weight : weights) weight = uniform(random);
    return weights;
}

// Adds what one sample says about the weights; returns its squared error.
float add_gradient(const Weights& weights, float x, float wanted, std::vector<float>& gradient) {
    std::array<float, kHidden> active;
    float y = 0;
    for (std::size_t j = 0; j < kHidden; ++j) {
        active[j] = std::tanh(weights[j] * x + weights[kHidden + j]);
        y += weights[2 * kHidden + j] * active[j];
    }
    const float error = y - wanted;
    for (std::size_t j = 0; j < kHidden; ++j) {
        const float inner = error * weights[2 * kHidden + j] * (1 - active[j] * active[j]);
        gradient[j] += inner * x;
        gradient[kHidden + j] += inner;
        gradient[2 * kHidden + j] += error * active[j];
    }
    return error * error;
}

// The gradient of a new batch, and its loss as the last element: one call carries both.
std::vector<float> gradient_and_loss(const Weights& weights, std::mt19937& random) {
    std::uniform_real_distribution<float> uniform(-3.0F, 3.0F);
    std::vector<float> sum(weights.size() + 1);
    for (std::size_t i = 0; i < kBatch; ++i) {
        const float x = uniform(random);
        sum.back() += add_gradient(weights, x, std::sin(x), sum);
    }
    return sum;
}

bool same_on_all_ranks(peal::Communicator& comm, const Weights& weights) {
    Weights largest, smallest;
    comm.allreduce(weights, largest, peal::ReduceOp::max);
    comm.allreduce(weights, smallest, peal::ReduceOp::min);
    return weights == largest && weights == smallest;
}

}  // namespace

int main() {
    peal::Communicator comm = peal::Communicator::connect();
    const float share = 1.0F / static_cast<float>(kBatch * static_cast<std::size_t>(comm.nranks()));
    std::mt19937 random(100 + static_cast<unsigned>(comm.rank()));
    Weights weights = same_start_everywhere();
    for (int step = 1; step <= kSteps; ++step) {
        std::vector<float> gradient = gradient_and_loss(weights, random);
        comm.allreduce(gradient);
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= kRate * share * gradient[i];
        if (comm.rank() == 0 && (step == 1 || step % 250 == 0)) {
            std::printf("step %4d  loss %.4f\n", step,
                        static_cast<double>(share * gradient.back()));
        }
    }
    const bool same = same_on_all_ranks(comm, weights);
    if (comm.rank() == 0) {
        std::printf("%d ranks, %s weights\n", comm.nranks(), same ? "identical" : "DIFFERENT");
    }
    return same ? 0 : 1;
}
