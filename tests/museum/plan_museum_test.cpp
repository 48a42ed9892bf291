// SPDX-License-Identifier: Apache-2.0
// As museum_test.cpp, for exhibits that are plans.
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "museum/plan_exhibits.hpp"
#include "museum/verdicts.hpp"

namespace peal::museum {
namespace plan_museum_test {

class PlanMuseum : public ::testing::TestWithParam<PlanExhibit> {
protected:
    // Asks the checker about one form and hands the answer on.
    template <class Judge>
    void check_each(Form form, std::string_view name, Judge&& judge) const {
        const PlanExhibit& exhibit = GetParam();
        for (const int nranks : exhibit.ranks) {
            const test::Plans plans = exhibit.build(nranks, form);
            Collective collective;
            collective.kind = exhibit.meaning;
            collective.count = exhibit.count;
            const Meaning meaning = meaning_of(collective, plans.list());
            const std::vector<CheckStage> stages = {{&plans.list(), &meaning, {}}};
            CheckOptions options;
            options.device = exhibit.device;
            options.strict_loads = true;
            const CheckReport report = check(stages, options);
            tell(fmt::format("{} {}, {} ranks", exhibit.id, name, nranks), report);
            judge(report, stages, nranks == exhibit.ranks.front());
        }
    }
};

TEST_P(PlanMuseum, BrokenIsFound) {
    check_each(Form::broken, "broken",
               [&](const CheckReport& report, const auto& stages, bool is_smallest) {
                   expect_found(report, stages, name(GetParam().expect));
                   if (is_smallest) expect_short(report, stages);
               });
}

TEST_P(PlanMuseum, MendedIsProved) {
    check_each(Form::mended, "mended", [](const CheckReport& report, const auto& stages, bool) {
        expect_proved(report, stages);
    });
}

INSTANTIATE_TEST_SUITE_P(Exhibit, PlanMuseum, ::testing::ValuesIn(plan_exhibits()),
                         [](const auto& info) { return info.param.id; });

}  // namespace plan_museum_test
}  // namespace peal::museum
