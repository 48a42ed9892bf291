// SPDX-License-Identifier: Apache-2.0
// Source text and places in it. Every IR node and every plan instruction remembers where it is
// from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace peal {

// A place in a source: 1-based line and column, and the number of columns it covers.
// Line 0 means "nowhere": the node was built by a program, not read from text.
struct Span {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::uint32_t length = 0;
};

class Source {
public:
    Source(std::string name, std::string text);

    const std::string& name() const { return name_; }
    const std::string& text() const { return text_; }
    std::string_view line(std::uint32_t number) const;  // 1-based; empty when out of range

private:
    std::string name_;
    std::string text_;
    std::vector<std::size_t> line_starts_;
};

using SourcePtr = std::shared_ptr<const Source>;

}  // namespace peal
