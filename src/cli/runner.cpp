// SPDX-License-Identifier: Apache-2.0
#include "cli/runner.hpp"

#include <algorithm>

#include "cli/process_runner.hpp"
#include "cli/run.hpp"
#include "cli/worker_runner.hpp"

namespace peal::cli {
namespace {

class InProcessRunner : public Runner {
public:
    InProcessRunner(const std::vector<Plan>& plans, const EngineOptions& options)
        : plans_(plans), stage_(plans), engine_(stage_.nranks(), options) {}

    golden::Outcome run(const RankWork& work) override {
        golden::Outcome outcome;
        for (int call = 0; call < work.calls && !outcome.wrong; ++call) {
            for_each_rank(
                [&](int rank, const RankMemory& memory) { work.before(rank, call, memory); });
            const double seconds = engine_.run(plans_, stage_.bindings()).seconds;
            outcome.seconds = call == 0 ? seconds : std::min(outcome.seconds, seconds);
            for_each_rank([&](int rank, const RankMemory& memory) {
                if (!outcome.wrong) outcome.wrong = work.after(rank, call, memory);
            });
        }
        return outcome;
    }

    std::byte* argument(int rank, std::size_t buffer) override {
        return stage_.memory(rank, buffer);
    }

private:
    template <class Each>
    void for_each_rank(Each&& each) {
        for (int rank = 0; rank < stage_.nranks(); ++rank) {
            each(rank, [&](std::size_t buffer) { return stage_.memory(rank, buffer); });
        }
    }

    const std::vector<Plan>& plans_;
    golden::Stage stage_;
    InProcessEngine engine_;
};

}  // namespace

std::unique_ptr<Runner> make_runner(const std::vector<Plan>& plans, const RunOptions& options) {
    if (options.processes) return std::make_unique<ProcessRunner>(plans);
    if (options.by_worker()) return std::make_unique<WorkerRunner>(plans, options);
    return std::make_unique<InProcessRunner>(plans, options.engine());
}

}  // namespace peal::cli
