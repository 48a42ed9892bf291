// SPDX-License-Identifier: Apache-2.0
// Text that comes in pieces, given out as whole lines with a prefix before each.
#pragma once

#include <string>
#include <string_view>

namespace peal::cli {

class LinePrefixer {
public:
    explicit LinePrefixer(std::string prefix) : prefix_(std::move(prefix)) {}

    // The lines that are whole now. A line that has no end for very long is cut.
    std::string add(std::string_view piece);
    // The last line, which had no end and gets one.
    std::string finish();

private:
    std::string prefix_;
    std::string line_;  // as far as it is known
};

}  // namespace peal::cli
