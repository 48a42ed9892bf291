// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "report.hpp"

namespace peal::bench {

void splice(const std::filesystem::path& file, const std::string& section,
            const std::string& text) {
    std::ifstream in(file);
    std::string page{std::istreambuf_iterator<char>(in), {}};
    const std::string begin = "<!-- " + section + " begin -->\n";
    const std::string end = "<!-- " + section + " end -->";
    const auto from = page.find(begin);
    const auto to = page.find(end);
    if (from == std::string::npos || to == std::string::npos || to < from) {
        throw std::runtime_error(file.string() + " has no section between '" + begin + "' and '" +
                                 end + "'");
    }
    const auto start = from + begin.size();
    page.replace(start, to - start, text);
    std::ofstream(file) << page;
}

}  // namespace peal::bench
