// SPDX-License-Identifier: Apache-2.0
// Plans carried out by the devices of a worker.
#pragma once

#include <string>
#include <vector>

#include "cli/rank_work.hpp"
#include "cli/target.hpp"
#include "golden/rehearse.hpp"
#include "peal/plan.hpp"
#include "peal/worker.hpp"

namespace peal::cli {

class WorkerStage {
public:
    // Starts the devices that the options name, and gives them their windows.
    WorkerStage(const std::vector<Plan>& plans, const TargetOptions& options);

    // Each call is a group of tasks. What is wrong on the first rank that found something, and the
    // fastest call as the host sees it. A task that fails is an Error.
    golden::Outcome run(const RankWork& work);

    // A private buffer of a rank, or its part of a window.
    std::byte* memory(int rank, std::size_t buffer) const;

    const Worker& worker() const { return worker_; }

private:
    Arguments arguments_of(int rank) const;

    const std::vector<Plan>& plans_;
    Worker worker_;
    DeviceKernel kernel_;
    Domain domain_;
    mutable std::vector<std::vector<std::vector<std::byte>>> arguments_;  // by rank, then buffer
};

}  // namespace peal::cli
