// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "peal/collective.hpp"
#include "peal/compile.hpp"

namespace peal::plan {
namespace auto_recipe_test {

// Lines are those of the lowered program, in which auto has conditions.
std::vector<std::string> texts_of(const Plan& plan) {
    std::vector<std::string> texts;
    for (const Instruction& instruction : plan.instructions) {
        texts.push_back(to_text(instruction, plan));
    }
    return texts;
}

// Around the borders of the rules for a kernel's target.
TEST(AutoMode, IsTheRecipeThatTheTableNames) {
    for (const CollectiveKind kind : kCollectives) {
        for (const int nranks : {1, 2, 3, 8, 9, 16, 17}) {
            for (const std::uint64_t count : {1, 4096, 4097, 16384, 16385, 65536, 65537}) {
                for (const Placement placement : kPlacements) {
                    if (!offers(kind, "auto", placement)) continue;
                    Collective collective;
                    collective.kind = kind;
                    collective.placement = placement;
                    collective.count = facts_of(kind).has_data() ? count : 0;
                    if (facts_of(kind).is_counted()) collective.count = 0;
                    collective.counts.assign(table_entries(kind, nranks), 3);
                    const std::vector<Plan> chosen = compile(collective, nranks);
                    collective.recipe = choose_recipe(
                        kind, collective.count * bytes_of(collective.element), nranks);
                    const std::vector<Plan> named = compile(collective, nranks);
                    EXPECT_EQ(texts_of(chosen.back()), texts_of(named.back()))
                        << name(kind) << " of " << count << ", " << nranks << " ranks, "
                        << name(placement);
                }
            }
        }
    }
}

}  // namespace auto_recipe_test
}  // namespace peal::plan
