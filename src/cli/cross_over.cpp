// SPDX-License-Identifier: Apache-2.0
#include "cli/cross_over.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

namespace peal::cli {
namespace {

constexpr double kClearly = 1.05;

// Index of the quickest at a size.
std::size_t quickest(const Survey& survey, std::size_t size, bool of_any_size) {
    std::size_t best = survey.candidates.size();
    double seconds = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < survey.candidates.size(); ++c) {
        if (of_any_size && !survey.candidates[c].takes_any_size) continue;
        if (survey.seconds[c][size] < seconds) {
            seconds = survey.seconds[c][size];
            best = c;
        }
    }
    assert(best < survey.candidates.size());
    return best;
}

// Nothing is known between two sizes but that the lead changes.
std::uint64_t between(std::uint64_t smaller, std::uint64_t larger) {
    return static_cast<std::uint64_t>(
        std::sqrt(static_cast<double>(smaller) * static_cast<double>(larger)));
}

}  // namespace

std::vector<comm::Rule> rules_from(const Survey& survey, const RuleLimits& limits) {
    std::vector<comm::Rule> rules;
    const auto add = [&](std::size_t candidate, std::uint64_t max_bytes) {
        const Candidate& chosen = survey.candidates[candidate];
        rules.push_back({survey.kind, survey.where, limits.max_ranks, max_bytes, chosen.recipe,
                         chosen.stage_bytes, chosen.reach, limits.max_hosts, limits.max_per_host});
    };
    std::size_t ahead = quickest(survey, 0, false);
    for (std::size_t s = 1; s < survey.sizes.size(); ++s) {
        const std::size_t best = quickest(survey, s, false);
        if (survey.seconds[ahead][s] <= kClearly * survey.seconds[best][s]) continue;
        add(ahead, between(survey.sizes[s - 1], survey.sizes[s]));
        ahead = best;
    }
    if (!survey.candidates[ahead].takes_any_size) {
        add(ahead, survey.candidates[ahead].reach ? comm::Rule::kAny : survey.sizes.back());
        ahead = quickest(survey, survey.sizes.size() - 1, true);
    }
    add(ahead, comm::Rule::kAny);
    return rules;
}

void put_between_hosts(const std::vector<comm::Rule>& measured, comm::Table& table) {
    const auto limits_of = [](const comm::Rule& rule) {
        const bool is_one = rule.where == comm::Where::hosts;
        return is_one ? std::array{1, rule.max_ranks, rule.max_hosts, rule.max_per_host}
                      : std::array{0, 0, 0, 0};
    };
    std::erase_if(table.rules, [&](const comm::Rule& rule) {
        return limits_of(rule) == limits_of(measured.front());
    });
    table.rules.insert(table.rules.end(), measured.begin(), measured.end());
    std::stable_sort(table.rules.begin(), table.rules.end(),
                     [&](const auto& a, const auto& b) { return limits_of(a) < limits_of(b); });
}

}  // namespace peal::cli
