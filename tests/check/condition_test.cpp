// SPDX-License-Identifier: Apache-2.0
#include "check/condition.hpp"

#include <gtest/gtest.h>

namespace peal::checker {
namespace condition_test {

TEST(Condition, ImpliesIsInclusion) {
    constexpr Compare kAll[] = {Compare::eq, Compare::ne, Compare::gt,
                                Compare::ge, Compare::lt, Compare::le};
    for (const Compare a : kAll) {
        for (const Compare b : kAll) {
            for (int x = -2; x <= 2; ++x) {
                for (int y = -2; y <= 2; ++y) {
                    const Condition left{a, x};
                    const Condition right{b, y};
                    bool included = true;
                    for (int value = -10; value <= 10; ++value) {
                        included &= !left.holds(value) || right.holds(value);
                    }
                    EXPECT_EQ(implies(left, right), included)
                        << symbol(a) << x << " and " << symbol(b) << y;
                }
            }
        }
    }
}

}  // namespace condition_test
}  // namespace peal::checker
