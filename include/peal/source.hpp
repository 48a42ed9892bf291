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

// A source may be made of several files: its text is then theirs, one after another, and lines are
// counted through.
class Source {
public:
    struct Part {
        std::string name;
        std::uint32_t first_line = 1;  // of the part, in the whole text
    };

    Source(std::string name, std::string text);
    // `included` are the parts after the first, by first line.
    Source(std::string name, std::string text, std::vector<Part> included);

    const std::string& name() const { return name_; }
    const std::string& text() const { return text_; }
    const std::vector<Part>& included() const { return included_; }
    std::string_view line(std::uint32_t number) const;  // 1-based; empty when out of range

    // How people call a line: "line 7", or "barrier.hpp:7" in a part that was included.
    std::string place(std::uint32_t number) const;
    // "kernel.cpp:7", "barrier.hpp:7"
    std::string full_place(std::uint32_t number) const;

private:
    const Part* part_of(std::uint32_t number) const;

    std::string name_;
    std::string text_;
    std::vector<Part> included_;
    std::vector<std::size_t> line_starts_;
};

using SourcePtr = std::shared_ptr<const Source>;

}  // namespace peal
