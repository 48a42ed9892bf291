// SPDX-License-Identifier: Apache-2.0
// What the museum asks of the checker's answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peal/check.hpp"

namespace peal::museum {

// A counterexample that is longer than this is not read.
inline constexpr std::size_t kMostSteps = 25;

inline std::string text_of(const CheckReport& report, const std::vector<CheckStage>& stages) {
    std::string text =
        fmt::format("{} by {}; {}", name(report.verdict), name(report.method), report.why_explored);
    for (const Violation& violation : report.violations) {
        text += fmt::format("\n{}: {}", name(violation.kind), violation.message);
        for (const Step& step : violation.schedule) text += "\n    " + to_text(step, stages);
    }
    return text;
}

// One line per answer, to be read by people who walk through the museum.
inline void tell(const std::string& title, const CheckReport& report) {
    const bool is_linear = report.method == CheckMethod::linear;
    const std::string answer =
        report.violations.empty()
            ? std::string(name(report.verdict))
            : fmt::format("{} in {} steps", name(report.violations.front().kind),
                          report.violations.front().schedule.size());
    fmt::print("  {}: {}; {} {}, {:.1f} ms\n", title, answer,
               is_linear ? report.events : report.states, is_linear ? "events" : "states",
               report.seconds * 1e3);
}

inline void expect_found(const CheckReport& report, const std::vector<CheckStage>& stages,
                         std::string_view kind) {
    ASSERT_EQ(report.verdict, Verdict::violated) << text_of(report, stages);
    EXPECT_EQ(name(report.violations.front().kind), kind) << text_of(report, stages);
}

inline void expect_short(const CheckReport& report, const std::vector<CheckStage>& stages) {
    ASSERT_FALSE(report.violations.empty());
    EXPECT_LE(report.violations.front().schedule.size(), kMostSteps) << text_of(report, stages);
}

inline void expect_proved(const CheckReport& report, const std::vector<CheckStage>& stages) {
    EXPECT_EQ(report.verdict, Verdict::proved) << text_of(report, stages);
}

}  // namespace peal::museum
