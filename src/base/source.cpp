// SPDX-License-Identifier: Apache-2.0
#include "peal/source.hpp"

#include <algorithm>
#include <cassert>

namespace peal {

Source::Source(std::string name, std::string text) : Source(std::move(name), std::move(text), {}) {}

Source::Source(std::string name, std::string text, std::vector<Part> included)
    : name_(std::move(name)), text_(std::move(text)), included_(std::move(included)) {
    assert(std::is_sorted(included_.begin(), included_.end(), [](const Part& a, const Part& b) {
        return a.first_line < b.first_line;
    }));
    line_starts_.push_back(0);
    for (std::size_t i = 0; i < text_.size(); ++i) {
        if (text_[i] == '\n') line_starts_.push_back(i + 1);
    }
}

std::string_view Source::line(std::uint32_t number) const {
    if (number == 0 || number > line_starts_.size()) return {};
    const std::size_t begin = line_starts_[number - 1];
    const std::size_t end = text_.find('\n', begin);
    std::string_view line =
        std::string_view(text_).substr(begin, end == std::string::npos ? end : end - begin);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
}

const Source::Part* Source::part_of(std::uint32_t number) const {
    const auto after = std::upper_bound(
        included_.begin(), included_.end(), number,
        [](std::uint32_t line, const Part& part) { return line < part.first_line; });
    return after == included_.begin() ? nullptr : &*std::prev(after);
}

std::string Source::place(std::uint32_t number) const {
    return part_of(number) ? full_place(number) : "line " + std::to_string(number);
}

std::string Source::full_place(std::uint32_t number) const {
    const Part* part = part_of(number);
    if (!part) return name_ + ":" + std::to_string(number);
    return part->name + ":" + std::to_string(number - part->first_line + 1);
}

}  // namespace peal
