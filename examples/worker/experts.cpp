// SPDX-License-Identifier: Apache-2.0
// Expert parallelism: every rank has tokens, and every rank is the expert for some of them.
// Dispatch sends each token to its expert, the experts work, combine sends the answers back. How
// many tokens go where is known only when they have been routed, and differs for every pair of
// ranks: all_to_all_v.
//
//   experts -d 0-3
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "driver.hpp"
#include "peal/program.hpp"
#include "peal/worker.hpp"

namespace {

using namespace peal;

constexpr std::size_t kTokens = 24;  // per rank
constexpr std::size_t kWidth = 16;   // elements per token

// An expert is an affine map, its own one for each.
constexpr const char* kExpert = R"(
kernel expert(tokens: in f32[n], answers: out f32[n], weight: f32, bias: f32) {
    answers = tokens * weight + bias
}
)";
float weight_of(std::size_t expert) { return 1.0F + 0.5F * static_cast<float>(expert); }
float bias_of(std::size_t expert) { return 10.0F * static_cast<float>(expert); }

float element(std::size_t rank, std::size_t token, std::size_t i) {
    return 0.1F * static_cast<float>(rank) + 0.01F * static_cast<float>(token) +
           0.001F * static_cast<float>(i);
}

// Some experts are more popular than others.
std::size_t expert_of(std::size_t rank, std::size_t token, std::size_t nranks) {
    return (token * token + rank) % (nranks + 1) % nranks;
}

// counts[from * P + to], in elements.
std::vector<std::int64_t> route(std::size_t nranks) {
    std::vector<std::int64_t> counts(nranks * nranks);
    for (std::size_t rank = 0; rank < nranks; ++rank) {
        for (std::size_t token = 0; token < kTokens; ++token) {
            counts[rank * nranks + expert_of(rank, token, nranks)] += kWidth;
        }
    }
    return counts;
}

// The answers go the other way.
std::vector<std::int64_t> transposed(const std::vector<std::int64_t>& counts, std::size_t nranks) {
    std::vector<std::int64_t> other(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        other[i % nranks * nranks + i / nranks] = counts[i];
    }
    return other;
}

// A rank's tokens, those for expert 0 first, and the answers that it must get in that order.
struct Tokens {
    std::vector<float> values, golden;
};

Tokens sorted_by_expert(std::size_t rank, std::size_t nranks) {
    Tokens tokens;
    for (std::size_t expert = 0; expert < nranks; ++expert) {
        for (std::size_t token = 0; token < kTokens; ++token) {
            if (expert_of(rank, token, nranks) != expert) continue;
            for (std::size_t i = 0; i < kWidth; ++i) {
                const float value = element(rank, token, i);
                tokens.values.push_back(value);
                tokens.golden.push_back(value * weight_of(expert) + bias_of(expert));
            }
        }
    }
    return tokens;
}

// An exchange with its windows.
struct Exchange {
    DeviceKernel kernel;
    Domain domain;

    static Exchange make(Worker& worker, const std::string& name,
                         std::vector<std::int64_t> counts) {
        Collective collective;
        collective.kind = CollectiveKind::all_to_all_v;
        collective.counts = std::move(counts);
        const DeviceKernel kernel(collective);
        return {kernel,
                worker.allocate_domain({.name = name, .windows = kernel.windows(worker.ranks())})};
    }

    Task submit(Worker& worker, const std::vector<Tensor>& from,
                const std::vector<Tensor>& to) const {
        std::vector<Arguments> arguments;
        for (std::size_t rank = 0; rank < from.size(); ++rank) {
            arguments.push_back({from[rank], to[rank], domain["data"], domain["signal"]});
        }
        return worker.submit_group(kernel, domain, arguments, {.name = domain.name()});
    }
};

bool run(const examples::Options& options) {
    Worker worker = examples::start_worker(options);
    const auto nranks = static_cast<std::size_t>(worker.ranks());
    const std::vector<std::int64_t> counts = route(nranks);
    const Exchange dispatch = Exchange::make(worker, "dispatch", counts);
    const Exchange combine = Exchange::make(worker, "combine", transposed(counts, nranks));
    const DeviceKernel expert(parse(std::make_shared<Source>("expert.peal", kExpert)));

    std::vector<Tokens> tokens;
    std::vector<std::vector<float>> results;
    std::vector<Tensor> mine, at_expert, answers, back;
    for (std::size_t rank = 0; rank < nranks; ++rank) {
        tokens.push_back(sorted_by_expert(rank, nranks));
        results.emplace_back(kTokens * kWidth);
    }
    for (std::size_t rank = 0; rank < nranks; ++rank) {
        std::uint64_t arrive = 0;
        for (std::size_t from = 0; from < nranks; ++from) {
            arrive += static_cast<std::uint64_t>(counts[from * nranks + rank]);
        }
        mine.emplace_back(tokens[rank].values);
        at_expert.push_back(worker.alloc<float>(static_cast<int>(rank), {arrive}));
        answers.push_back(worker.alloc<float>(static_cast<int>(rank), {arrive}));
        back.emplace_back(results[rank]);
    }

    dispatch.submit(worker, mine, at_expert);
    for (std::size_t rank = 0; rank < nranks; ++rank) {
        worker.submit(expert, static_cast<int>(rank),
                      {at_expert[rank], answers[rank], weight_of(rank), bias_of(rank)});
    }
    combine.submit(worker, answers, back);
    worker.wait();
    examples::report(worker, options);

    bool right = true;
    for (std::size_t rank = 0; rank < nranks; ++rank) {
        std::printf("expert %zu answered %llu tokens; ", rank,
                    static_cast<unsigned long long>(answers[rank].count() / kWidth));
        right &=
            examples::matches("rank " + std::to_string(rank), results[rank], tokens[rank].golden);
    }
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    return examples::drive(argc, argv, "Sends tokens to their experts and the answers back.", run);
}
