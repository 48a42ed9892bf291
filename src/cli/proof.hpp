// SPDX-License-Identifier: Apache-2.0
// A proof beside a run.
#pragma once

#include <string>
#include <vector>

#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/plan.hpp"

namespace peal::cli {

struct Proof {
    std::string word =
        "-";             // for a table: "proved", the kind of a violation, "bound", "-": not tried
    std::string reason;  // when it did not prove
    int exit_code = 0;
};

// Checks the plans with these options; those with pipes on their device, and then as this machine
// runs them (plan/for_host.hpp). Unless `thorough`, only where that takes no noticeable time.
// `collective` is what they mean, or null. Warnings are left to `peal check`.
Proof prove(const std::vector<Plan>& plans, const Collective* collective, bool thorough,
            CheckOptions options);

}  // namespace peal::cli
