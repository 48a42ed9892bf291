// SPDX-License-Identifier: Apache-2.0
// What a worker adds to its tasks: `make bench-worker`. Each row states the limit that it must
// keep.
#include <ctime>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "peal/program.hpp"
#include "peal/worker.hpp"

namespace peal {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

void print_row(std::string_view what, double found, double limit, std::string_view remark = "") {
    fmt::print("{:<62} {:>8.2f} us  (limit {:>4} us) {}{}\n", what, found, limit,
               found <= limit ? "ok" : "MISSED", remark);
    std::fflush(stdout);
}

// The median of many rounds, after some that do not count.
double median(int rounds, const std::function<void()>& round) {
    for (int i = 0; i < rounds / 10; ++i) round();
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
        const auto start = Clock::now();
        round();
        times.push_back(Microseconds(Clock::now() - start).count());
    }
    std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
    return times[static_cast<std::size_t>(rounds / 2)];
}

void empty_group(DeviceEngine engine, std::string_view name) {
    Worker worker({.ranks = 2, .engine = engine});
    Plan nothing;
    nothing.kernel = "nothing";
    nothing.nranks = 2;
    std::vector<Plan> plans(2, nothing);
    plans[1].rank = 1;
    const DeviceKernel kernel(plans);
    const double found = median(20'000, [&] {
        worker.submit_group(kernel, {0, 1}, {{}, {}}).wait();
    });
    print_row(fmt::format("group of empty tasks on 2 {}, submit to done", name), found, 20);
}

void allreduce(int nranks, double limit) {
    Worker worker({.ranks = nranks});
    Collective collective;
    collective.count = 256;
    const DeviceKernel kernel(collective);
    const Domain domain =
        worker.allocate_domain({.name = "all", .windows = kernel.windows(nranks)});
    std::vector<std::vector<float>> in(static_cast<std::size_t>(nranks),
                                       std::vector<float>(256, 1));
    std::vector<std::vector<float>> out = in;
    const double found = median(10'000, [&] {
        worker
            .submit_group(kernel, domain,
                          per_rank(nranks,
                                   [&](int r) {
                                       const auto rank = static_cast<std::size_t>(r);
                                       return Arguments{Tensor(in[rank]), Tensor(out[rank]),
                                                        domain["data"], domain["signal"]};
                                   }))
            .wait();
    });
    print_row(fmt::format("allreduce of 256 floats in host memory, {} ranks", nranks), found,
              limit);
}

void domains() {
    Worker worker({.ranks = 4});
    const double found = median(500, [&] {
        worker
            .allocate_domain({.name = "d",
                              .windows = {{.name = "data", .shape = {65536}},
                                          {.name = "sig", .element = Element::i32, .cells = 4}}})
            .release();
    });
    print_row("domain of 4 ranks with 1 MiB, allocate and release", found, 1000);
}

// ---------------------------------------------------------------------------- many tasks

constexpr std::size_t kTasks = 10'000;
constexpr std::size_t kCells = 256;
constexpr std::uint64_t kPiece = 16;

struct Step {
    int rank;
    std::size_t from, to;  // pieces of that rank's memory
};

std::vector<Step> random_steps() {
    std::mt19937 random(1);
    std::vector<Step> steps;
    while (steps.size() < kTasks) {
        const Step step{static_cast<int>(random() % 2), random() % kCells, random() % kCells};
        if (step.from != step.to) steps.push_back(step);
    }
    return steps;
}

double cpu_microseconds() {
    timespec now = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

// The same steps on the memory of two devices, and in order on plain vectors.
class RandomGraph {
public:
    RandomGraph() {
        for (int rank = 0; rank < 2; ++rank) {
            memory_.push_back(worker_.alloc<std::int32_t>(rank, {kCells * kPiece}));
            expected_.emplace_back(kCells * kPiece);
            std::iota(expected_.back().begin(), expected_.back().end(), 0);
            worker_.upload(Tensor(expected_.back()), memory_.back()).wait();
        }
    }

    void run() {
        for (const Step& step : steps_) {
            worker_.submit(mix_, step.rank, {piece(step, step.from), piece(step, step.to)});
        }
        worker_.wait();
    }

    void run_in_order() {
        for (const Step& step : steps_) {
            std::vector<std::int32_t>& numbers = expected_[static_cast<std::size_t>(step.rank)];
            for (std::size_t i = 0; i < kPiece; ++i) {
                auto& to = numbers[step.to * kPiece + i];
                const auto from = static_cast<std::uint32_t>(numbers[step.from * kPiece + i]);
                to = static_cast<std::int32_t>(static_cast<std::uint32_t>(to) * 3U + from);
            }
        }
    }

    bool is_right() const {
        for (std::size_t rank = 0; rank < memory_.size(); ++rank) {
            const auto found = memory_[rank].span<std::int32_t>();
            if (!std::equal(found.begin(), found.end(), expected_[rank].begin())) return false;
        }
        return true;
    }

private:
    Tensor piece(const Step& step, std::size_t index) const {
        return memory_[static_cast<std::size_t>(step.rank)].slice(index * kPiece,
                                                                  (index + 1) * kPiece);
    }

    Worker worker_{{.ranks = 2}};
    const DeviceKernel mix_{parse(std::make_shared<Source>(
        "mix.peal", "kernel mix(a: in i32[n], b: inout i32[n]) { b = b * 3 + a }"))};
    const std::vector<Step> steps_ = random_steps();
    std::vector<Tensor> memory_;
    std::vector<std::vector<std::int32_t>> expected_;
};

void random_graph() {
    constexpr int kRounds = 7;
    RandomGraph graph;
    std::vector<double> host, wall;
    for (int round = 0; round < kRounds; ++round) {
        const double cpu = cpu_microseconds();
        const auto start = Clock::now();
        graph.run();
        wall.push_back(Microseconds(Clock::now() - start).count() / kTasks);
        host.push_back((cpu_microseconds() - cpu) / kTasks);
        graph.run_in_order();
    }
    std::sort(wall.begin(), wall.end());
    std::sort(host.begin(), host.end());
    print_row(fmt::format("{} tasks with random dependencies, host time for each", kTasks),
              host[kRounds / 2], 3,
              fmt::format("; {:.2f} us from task to task; result {}", wall[kRounds / 2],
                          graph.is_right() ? "as in sequence" : "WRONG"));
}

}  // namespace
}  // namespace peal

int main() {
    peal::empty_group(peal::DeviceEngine::processes, "processes");
    peal::empty_group(peal::DeviceEngine::in_process, "threads");
    peal::allreduce(2, 30);
    peal::allreduce(4, 150);
    peal::domains();
    peal::random_graph();
}
