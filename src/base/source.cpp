// SPDX-License-Identifier: Apache-2.0
#include "peal/source.hpp"

namespace peal {

Source::Source(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
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

}  // namespace peal
