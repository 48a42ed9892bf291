// SPDX-License-Identifier: Apache-2.0
// The figures with which the README begins are those of docs/benchmarks.md.
#include <gtest/gtest.h>

#include "house/tokens.hpp"
#include "support/patterns.hpp"

namespace peal::test {
namespace figures_test {

TEST(Figures, OfTheReadmeAreThoseOfTheBenchmarks) {
    const std::string readme = text_of("README.md");
    const auto said = matches(readme,
                              "an allreduce of 1 MiB takes ([0-9.]+) µs, with the best of "
                              "Open MPI, MPICH and Gloo\n([0-9.]+) µs");
    // The first row of the first table, and there the fifth cell of a size.
    const std::string benchmarks = text_of("docs/benchmarks.md");
    const auto measured = matches(benchmarks,
                                  "\n\\| allreduce (?:\\|[^|\n]*){4}\\| \\*\\*[0-9.]+\\*\\* "
                                  "([0-9.]+) / ([0-9.]+) ");
    ASSERT_FALSE(said.empty() || measured.empty());
    EXPECT_EQ(said[0][1], measured[0][1]);
    EXPECT_EQ(said[0][2], measured[0][2]);
}

}  // namespace figures_test
}  // namespace peal::test
