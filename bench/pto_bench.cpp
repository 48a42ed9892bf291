// SPDX-License-Identifier: Apache-2.0
// How long PTO kernels take: `make bench-pto`. The kernels of examples/pto are compiled, traced and
// run in processes, one rank each, call after call; each row states the bound that it must keep.
//
// A batch is some calls in a row, and its time is that of its slowest rank, by call. The median of
// the batches counts.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "peal/communicator.hpp"
#include "peal/pto.hpp"

namespace peal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kElements = 256;
constexpr int kBatches = 200;
constexpr int kCallsInBatch = 500;

struct Bound {
    int nranks;
    double microseconds;
};
constexpr Bound kBounds[] = {{2, 2}, {4, 20}};

std::vector<Plan> traced(const std::string& kernel, int nranks) {
    Collective collective;
    collective.kind = CollectiveKind::allreduce;
    collective.count = kElements;
    return pto::trace(pto::Kernel::compile(PEAL_PTO_EXAMPLES + kernel + ".cpp"),
                      pto::preset(collective, nranks), nranks);
}

// One rank's memory for a kernel with the arguments of the preset.
struct RankMemory {
    RankMemory(Communicator& comm, const Plan& plan)
        : input(kElements),
          output(kElements),
          window(comm.window<std::uint8_t>(plan.buffers[2].bytes)),
          signals(comm.signals(plan.buffers[3].cells, plan.buffers[3].cell_stride)) {
        std::iota(input.begin(), input.end(), static_cast<float>(100 * comm.rank()));
    }

    void require_sums(int nranks) const {
        for (std::size_t i = 0; i < output.size(); ++i) {
            const int expected = nranks * static_cast<int>(i) + 50 * nranks * (nranks - 1);
            if (output[i] != static_cast<float>(expected)) throw std::range_error("wrong sum");
        }
    }

    std::vector<float> input, output;
    Window<std::uint8_t> window;
    WindowMemory signals;
};

// Microseconds per call of each batch, the same on all ranks.
std::vector<double> time_batches(Communicator& comm, PreparedKernel& kernel) {
    std::vector<double> times(kBatches);
    for (double& time : times) {
        comm.barrier();
        const Clock::time_point begin = Clock::now();
        for (int call = 0; call < kCallsInBatch; ++call) kernel.run();
        const std::chrono::duration<double, std::micro> elapsed = Clock::now() - begin;
        time = elapsed.count() / kCallsInBatch;
    }
    comm.allreduce(times, ReduceOp::max);
    std::sort(times.begin(), times.end());
    return times;
}

void print_row(const std::string& kernel, const std::vector<double>& times, const Bound& bound) {
    const double median = times[times.size() / 2];
    fmt::print("{:<30} {} ranks  {:>7.2f} us median  {:>7.2f} us best  (bound {} us) {}\n", kernel,
               bound.nranks, median, times.front(), bound.microseconds,
               median < bound.microseconds ? "ok" : "MISSED");
}

int measure(const std::string& kernel, const Bound& bound) {
    const std::vector<Plan> plans = traced(kernel, bound.nranks);
    return Communicator::fork(bound.nranks, [&](Communicator& comm) {
        RankMemory memory(comm, plans.front());
        PreparedKernel prepared = comm.prepare(comm.kernel(plans), memory.input, memory.output,
                                               memory.window, memory.signals);
        prepared.run();
        memory.require_sums(comm.nranks());
        const std::vector<double> times = time_batches(comm, prepared);
        memory.require_sums(comm.nranks());
        if (comm.rank() == 0) print_row(kernel, times, bound);
    });
}

}  // namespace
}  // namespace peal

int main() {
    int worst = 0;
    for (const peal::Bound& bound : peal::kBounds) {
        for (const char* kernel : {"allreduce_one_phase", "allreduce_two_phase", "allreduce_ring",
                                   "allreduce_bidirectional_ring"}) {
            worst = std::max(worst, peal::measure(kernel, bound));
        }
    }
    return worst;
}
