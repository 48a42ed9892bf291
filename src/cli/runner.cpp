// SPDX-License-Identifier: Apache-2.0
#include "cli/runner.hpp"

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
        return golden::run(plans_, stage_, engine_, work);
    }

    std::byte* argument(int rank, std::size_t buffer) override {
        return stage_.memory(rank, buffer);
    }

private:
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
