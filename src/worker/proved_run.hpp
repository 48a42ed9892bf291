// SPDX-License-Identifier: Apache-2.0
// What is behind a ProvedRun. In builds for tests it is written down when the first of its calls is
// submitted, and proved after them; in others there is nothing to keep.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "check/as_run.hpp"
#include "peal/check.hpp"

namespace peal::worker {

class RunRecord {
public:
    RunRecord(const std::vector<CheckStage>& calls, bool once);

    // Once, however often it is asked for. Safe to call from several threads.
    void write();

private:
    std::optional<checker::CallsHere> calls_;  // if they are to be written down
    const bool once_;
    std::once_flag written_;
};

}  // namespace peal::worker
