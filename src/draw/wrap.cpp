// SPDX-License-Identifier: Apache-2.0
#include "draw/wrap.hpp"

#include <algorithm>
#include <utility>

#include "base/utf8.hpp"

namespace peal::draw {
namespace {

std::string clip(std::string_view text, std::size_t width, std::string_view ellipsis) {
    if (width_of(text) <= width) return std::string(text);
    const std::size_t room = width - std::min(width, width_of(ellipsis));
    std::size_t bytes = 0;
    for (std::size_t columns = 0; bytes < text.size();) {
        const base::Utf8Char next = base::decode_utf8(text, bytes);
        columns += static_cast<std::size_t>(base::display_width(next.code));
        if (columns > room) break;
        bytes += next.bytes;
    }
    return std::string(text.substr(0, bytes)).append(ellipsis);
}

}  // namespace

std::size_t width_of(std::string_view text) {
    std::size_t columns = 0;
    for (std::size_t at = 0; at < text.size();) {
        const base::Utf8Char next = base::decode_utf8(text, at);
        columns += static_cast<std::size_t>(base::display_width(next.code));
        at += next.bytes;
    }
    return columns;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t indent,
                              std::string_view ellipsis) {
    std::vector<std::string> lines;
    std::string line;
    const auto finish = [&] { lines.push_back(clip(std::exchange(line, {}), width, ellipsis)); };
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        at = end + 1;
        if (!line.empty() && width_of(line) + 1 + width_of(word) > width) finish();
        if (line.empty() && !lines.empty()) {
            line.append(indent, ' ');
        } else if (!line.empty()) {
            line += ' ';
        }
        line += word;
    }
    if (!line.empty() || lines.empty()) finish();
    return lines;
}

}  // namespace peal::draw
