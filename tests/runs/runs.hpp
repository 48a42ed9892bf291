// SPDX-License-Identifier: Apache-2.0
// What the engines wrote down (src/engine/run_record.hpp), read back.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/plan.hpp"

namespace peal::test {

// The plans of all ranks.
struct PlanSet {
    int nranks = 0;
    std::optional<Collective> collective;  // that they do
    std::string json;                      // empty: they are what the collective compiles to
    std::vector<std::int64_t> hosts;       // and then runs between; empty: on one
    bool is_free = false;  // nobody has said that all return from a call before the next is made

    std::vector<Plan> plans() const;
};

// Calls one after the other, of plans of all ranks, and what they rely on.
struct PlanSequence {
    struct Call {
        std::vector<Plan> plans;
        std::vector<std::string> memory;
        std::vector<Held> holds;
    };
    std::vector<Call> calls;
    bool is_once = false;  // each time on zeroed windows and cells
    bool is_free = false;  // of a set: see there
};

struct Runs {
    std::map<std::string, std::string> carried_out;  // by the plan's digest: what, and by whom
    std::vector<PlanSet> sets;
    std::vector<PlanSequence> sequences;
};
Runs read_runs(const std::filesystem::path& directory);

}  // namespace peal::test
