// SPDX-License-Identifier: Apache-2.0
// Proofs that were written down count as long as the checker gives the same answers.
#include <gtest/gtest.h>

#include "base/digest.hpp"
#include "check/call_sequence.hpp"
#include "check/plans.hpp"

namespace peal {
namespace version_test {

void add_answer(base::Digest& digest, const std::vector<Plan>& plans, const Meaning& meaning) {
    CheckOptions options;
    options.calls = 2;
    const CheckReport report = check({{&plans, &meaning, {}}}, options);
    digest.add(name(report.verdict)).add(name(report.method));
    for (const Violation& violation : report.violations) digest.add(name(violation.kind));
}

// Each recipe as it is, and without each one of its instructions.
void add_answers(base::Digest& digest, const Collective& collective, int nranks) {
    const std::vector<Plan> plans = compile(collective, nranks);
    const Meaning meaning = meaning_of(collective, plans);
    add_answer(digest, plans, meaning);
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
        for (std::size_t i = 0; i < plans[rank].instructions.size(); ++i) {
            std::vector<Plan> without = plans;
            test::erase_instruction(without[rank], i);
            add_answer(digest, without, meaning);
        }
    }
}

TEST(CheckerVersion, StandsForTheAnswersThatTheCheckerGives) {
    base::Digest digest;
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            Collective collective;
            collective.kind = kind;
            collective.recipe = recipe.name;
            if (kind == CollectiveKind::all_to_all_v) {
                collective.counts = {1, 2, 0, 1, 1, 3, 2, 0, 1};
            } else if (facts_of(kind).counts_ranks()) {
                collective.counts = {2, 0, 3};
            } else if (kind != CollectiveKind::barrier) {
                collective.count = 4;
            }
            add_answers(digest, collective, 3);
        }
    }
    EXPECT_EQ(kCheckerVersion, 2);
    EXPECT_EQ(digest.text(), "137c7d5b44548eddc1f3fb0cb78588fc")
        << "the checker answers differently, or a recipe has changed: if it is the checker, raise "
           "kCheckerVersion (peal/check.hpp); then write down the version and this digest here";
}

}  // namespace version_test
}  // namespace peal
