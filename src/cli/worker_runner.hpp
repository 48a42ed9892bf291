// SPDX-License-Identifier: Apache-2.0
// Plans carried out by the devices of a worker.
#pragma once

#include <string>
#include <vector>

#include "cli/run.hpp"
#include "cli/runner.hpp"
#include "peal/plan.hpp"
#include "peal/worker.hpp"

namespace peal::cli {

class WorkerRunner : public Runner {
public:
    // Starts the devices that the options name, and gives them their windows.
    WorkerRunner(const std::vector<Plan>& plans, const RunOptions& options);

    // Each call is a group of tasks; the time is as the host sees it. Ends with what --timings and
    // --trace ask for.
    golden::Outcome run(const RankWork& work) override;
    std::byte* argument(int rank, std::size_t buffer) override { return memory(rank, buffer); }

private:
    // A private buffer of a rank, or its part of a window.
    std::byte* memory(int rank, std::size_t buffer) const;
    void report_timings() const;
    Arguments arguments_of(int rank) const;

    const std::vector<Plan>& plans_;
    const RunOptions& options_;
    Worker worker_;
    DeviceKernel kernel_;
    Domain domain_;
    mutable std::vector<std::vector<std::vector<std::byte>>> arguments_;  // by rank, then buffer
};

}  // namespace peal::cli
