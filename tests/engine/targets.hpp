// SPDX-License-Identifier: Apache-2.0
// Does work once with each SIMD target that this machine can run.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <vector>

namespace peal {

inline void use_targets(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

template <class Work>
void on_every_target(Work work) {
    static const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
    for (const std::int64_t target : targets) {
        SCOPED_TRACE(hwy::TargetName(target));
        use_targets(target);
        work();
    }
    use_targets(0);
}

}  // namespace peal
