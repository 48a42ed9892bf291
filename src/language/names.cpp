// SPDX-License-Identifier: Apache-2.0
#include "language/names.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace peal::language {
namespace {

constexpr std::size_t kMaxWord = 64;

// Insertions, deletions, replacements and swaps of neighbours between two words.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[a.size()][b.size()];
}

std::string_view short_name(const ir::OpSpec& spec) {
    return spec.name.substr(spec.name.rfind('.') + 1);
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
    if (word.size() > kMaxWord) return {};
    std::size_t best = word.size() / 3 + 1;
    std::string_view nearest;
    for (const std::string_view candidate : candidates) {
        if (candidate.size() > kMaxWord || candidate == word) continue;
        const std::size_t found = distance(word, candidate);
        if (found >= best) continue;
        best = found;
        nearest = candidate;
    }
    return nearest.empty() ? std::string{} : fmt::format("did you mean '{}'?", nearest);
}

std::string_view current_word(std::string_view word) {
    if (word == "mode") return "recipe";
    return word == "pld.system.epoch" ? ir::ops::kGeneration : word;
}

const ir::OpSpec* collective_named(std::string_view name) {
    for (const ir::OpSpec& spec : ir::all_ops()) {
        if (spec.composite && short_name(spec) == name) return &spec;
    }
    return nullptr;
}

std::vector<std::string_view> collective_names() {
    std::vector<std::string_view> names;
    for (const ir::OpSpec& spec : ir::all_ops()) {
        if (spec.composite) names.push_back(short_name(spec));
    }
    return names;
}

}  // namespace peal::language
