// SPDX-License-Identifier: Apache-2.0
#include "cli/line_prefixer.hpp"

namespace peal::cli {

std::string LinePrefixer::add(std::string_view piece) {
    constexpr std::size_t kLongestLine = 1 << 20;
    std::string lines;
    for (std::size_t end; (end = piece.find('\n')) != std::string_view::npos;) {
        lines.append(prefix_).append(line_).append(piece.substr(0, end + 1));
        line_.clear();
        piece.remove_prefix(end + 1);
    }
    line_.append(piece);
    if (line_.size() > kLongestLine) lines += finish();
    return lines;
}

std::string LinePrefixer::finish() {
    if (line_.empty()) return "";
    std::string last = prefix_ + line_ + '\n';
    line_.clear();
    return last;
}

}  // namespace peal::cli
