// SPDX-License-Identifier: Apache-2.0
// Exhibits that are about what the lanes of a rank or the units of one core do beside each other,
// or about where cells lie: plans written by hand.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "check/plans.hpp"
#include "peal/collective.hpp"

namespace peal::museum {

enum class Form { broken, mended };

struct PlanExhibit {
    std::string id;
    ViolationKind expect;
    CollectiveKind meaning;
    std::uint64_t count;  // of the collective
    std::vector<int> ranks;
    DeviceRules device;
    test::Plans (*build)(int nranks, Form form);
};

// How GoogleTest names it.
inline void PrintTo(const PlanExhibit& exhibit, std::ostream* out) { *out << exhibit.id; }

const std::vector<PlanExhibit>& plan_exhibits();

}  // namespace peal::museum
