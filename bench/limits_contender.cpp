// SPDX-License-Identifier: Apache-2.0
// The machine itself as a contender: what no library can beat, measured by the same method.
//
//   handoff      one process stores to a line and the other sees it, in turns; one way
//   copy, add    every rank on its own memory, all at once; `cached` stores, or `bypass`
#include <cstdlib>
#include <stdexcept>

#include "contender_main.hpp"
#include "engine/kernels/kernels.hpp"
#include "spin.hpp"

namespace peal::bench {
namespace {

class LimitsContender final : public Contender {
public:
    LimitsContender(const std::string& directory, int rank, int nranks)
        : rank_(rank), nranks_(nranks), meeting_(hall_path(directory), nranks) {}
    int rank() const override { return rank_; }
    int nranks() const override { return nranks_; }
    Operation bind(const Job& job) override;

private:
    void hand_off();
    int rank_;
    int nranks_;
    Meeting meeting_;
    std::uint64_t passes_ = 0;
};

// Call by call, one of the two serves and the other receives. The release of the store pairs with
// the acquire of the load.
void LimitsContender::hand_off() {
    std::atomic<std::uint64_t>& ball = meeting_.hall().ball;
    ++passes_;
    if (passes_ % 2 == static_cast<std::uint64_t>(rank_)) {
        ball.store(passes_, std::memory_order_release);
    } else {
        while (ball.load(std::memory_order_acquire) < passes_) spin_pause();
    }
}

engine::kernels::Stores stores_called(std::string_view way) {
    using engine::kernels::Stores;
    return way == "bypass" ? Stores::bypass : way == "distant" ? Stores::distant : Stores::cached;
}

Operation LimitsContender::bind(const Job& job) {
    const engine::kernels::Stores stores = stores_called(job.way);
    const float* in = job.input;
    float* out = job.output;
    const std::size_t count = job.shape.block;
    switch (job.task) {
        case Task::handoff: return [this](std::uint64_t) { hand_off(); };
        case Task::copy:
            return [=](std::uint64_t) {
                engine::kernels::copy_bytes(out, in, count * sizeof(float), stores);
                engine::kernels::fence_streams();
            };
        case Task::add:
            return [=](std::uint64_t) {
                const void* const sources[] = {in, in + count};
                engine::kernels::reduce(Element::f32, ReduceOp::sum, out, sources, count, stores);
                engine::kernels::fence_streams();
            };
        default: throw std::runtime_error("not a limit: " + std::string(name(job.task)));
    }
}

}  // namespace
}  // namespace peal::bench

// limits_contender DIRECTORY RANK NRANKS
int main(int argc, char** argv) {
    if (argc != 4) return 2;
    peal::bench::LimitsContender contender(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
    return peal::bench::serve(contender, argv[1]);
}
