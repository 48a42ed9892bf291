// SPDX-License-Identifier: Apache-2.0
#include "engine/place.hpp"

#include <fmt/format.h>

#include <string_view>

namespace peal {
namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t";
    const std::size_t first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

}  // namespace

std::string source_note(const Plan& plan, const Instruction& instruction) {
    if (!plan.source || instruction.line == 0) return {};
    return fmt::format("   ({}: \"{}\")", plan.source->full_place(instruction.line),
                       trimmed(plan.source->line(instruction.line)));
}

}  // namespace peal
