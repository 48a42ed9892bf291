// SPDX-License-Identifier: Apache-2.0
#include "peal/error.hpp"
#include "peal/plan.hpp"
#include "plan/faults.hpp"

namespace peal {
namespace {

void throw_first(const std::vector<plan::PlanFault>& faults) {
    if (!faults.empty()) throw Error(Fault::program, to_text(faults.front()));
}

}  // namespace

void validate(const Plan& plan) { throw_first(plan::faults_of(plan)); }

void validate(const std::vector<Plan>& plans) { throw_first(plan::faults_of(plans)); }

}  // namespace peal
