// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "engine/run_record.hpp"
#include "foreign/algorithms.hpp"
#include "foreign/foreign.hpp"
#include "golden/rehearse.hpp"
#include "peal/diagnostic.hpp"

namespace peal::test {

// Two calls, in an interleaving that is the same for the same seed, compute the collective; or one,
// where calls take turns with their windows and there is one set of them here.
inline void expect_runs(const foreign::ForeignPlans& foreign, int seed) {
    EngineOptions options;
    options.seed = static_cast<std::uint64_t>(seed);
    const bool alternates = !foreign.alternating.empty();
    const Buffer& input = foreign.plans.front().buffers[foreign.ports.input];
    if (alternates || is_apart(foreign.collective->placement)) {
        engine::RecordedCall call{&foreign.plans, {}, {}};
        if (input.kind == BufferKind::window) call.holds.emplace_back(input.name, "input");
        engine::record_sequence({call}, engine::CallOrder::together,
                                alternates ? engine::Times::once : engine::Times::again, true);
    }
    const golden::Outcome outcome = golden::rehearse(foreign.plans, *foreign.collective,
                                                     foreign.ports, alternates ? 1 : 2, options);
    EXPECT_EQ(outcome.wrong, std::nullopt);
}

// What is said of a file with this text, in one line; "read" when nothing is.
inline std::string refusal(const std::string& file, const std::string& text) {
    try {
        foreign::read_plans(source_of(file, text), {});
    } catch (const ProgramError& error) {
        const std::string what = error.what();
        return what.substr(0, what.find('\n'));
    }
    return "read";
}

// The text with the first `from` replaced.
inline std::string changed_text(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    return text;
}

}  // namespace peal::test
