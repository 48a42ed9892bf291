// SPDX-License-Identifier: Apache-2.0
// What kernels say of themselves: lines `// peal: OPTION VALUE words`.
#include <sstream>

#include <fmt/format.h>

#include "base/file.hpp"
#include "peal/error.hpp"
#include "peal/pto.hpp"

namespace peal::pto {
namespace {

constexpr std::string_view kMark = "// peal:";
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr int kWordsColumn = 46;  // where words begin, if the value leaves room

// What follows the mark; nothing if the line has none.
std::string_view behind_mark(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos || !line.substr(begin).starts_with(kMark)) return {};
    return line.substr(begin + kMark.size());
}

}  // namespace

Declared declared_in(const std::string& path) {
    Declared declared;
    std::istringstream lines(base::read_text(path, kMostBytes));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const std::string_view said = behind_mark(line);
        if (said.empty()) continue;
        std::istringstream words{std::string(said)};
        std::string option, value;
        words >> option >> value;
        const auto fail = [&](std::string_view expected, const std::string& found) {
            throw Error(Fault::program,
                        fmt::format("{}:{}: '{}' expects {}, found {}", path, number, kMark,
                                    expected, found.empty() ? "the end" : "'" + found + "'"));
        };
        const bool is_list = option == "--arg" || option == "--set";
        std::string* const once = option == "--as"       ? &declared.as
                                  : option == "--op"     ? &declared.op
                                  : option == "--device" ? &declared.device
                                                         : nullptr;
        if (!is_list && once == nullptr) fail("--arg, --as, --device, --op or --set", option);
        if (value.empty()) fail("a value behind " + option, value);
        if (is_list) {
            (option == "--arg" ? declared.arguments : declared.settings).push_back(value);
            continue;
        }
        if (!once->empty()) fail(fmt::format("one {}, not a second", option), value);
        *once = value;
    }
    return declared;
}

std::string declaration(std::string_view option, std::string_view value, std::string_view words) {
    std::string line = fmt::format("{} {} {}", kMark, option, value);
    if (words.empty()) return line;
    return fmt::format("{:<{}} {}", line, kWordsColumn, words);
}

}  // namespace peal::pto
