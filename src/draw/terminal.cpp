// SPDX-License-Identifier: Apache-2.0
#include "draw/pictures.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "draw/canvas.hpp"
#include "draw/layout.hpp"
#include "draw/wrap.hpp"

namespace peal::draw {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 4;         // right of a label: room for an arrow to leave
constexpr std::size_t kLeastGap = 2;    // where room is scarce
constexpr std::size_t kNarrowest = 20;  // columns of a rail, with its gap

struct Glyphs {
    std::string_view rail, notified, step, clash, call, folded;
    std::string_view line, right, left, crossing;
    std::string_view from_left, to_right, bracket, tee;
    std::string_view ellipsis;
};
constexpr Glyphs kUnicode = {"│", "┃", "●", "✗", "┄", "⋮", "─", "▶",
                             "◀", "┼", "╰", "╯", "━", "┷", "…"};
constexpr Glyphs kAscii = {"|", "#", "*", "X", ".", ":", "-", ">",
                           "<", "+", "+", "+", "=", "+", "~"};

// Rails as wide as their labels ask for; the widest give way until all fit. Empty: they do not fit.
std::vector<std::size_t> rail_widths(const Diagram& diagram, std::size_t room) {
    std::vector<std::size_t> widths;
    for (const Rail& rail : diagram.rails) {
        widths.push_back(std::max(kNarrowest, rails_text({rail}).size() + kGap));
    }
    for (const Event& event : diagram.events) {
        widths[event.rail] = std::max(widths[event.rail], width_of(event.label) + 2 + kGap);
    }
    while (std::accumulate(widths.begin(), widths.end(), std::size_t{0}) > room) {
        const auto widest = std::max_element(widths.begin(), widths.end());
        if (*widest <= kNarrowest) return {};
        --*widest;
    }
    return widths;
}

class TextPicture {
public:
    TextPicture(const Diagram& diagram, const TerminalOptions& options,
                const std::vector<std::size_t>& widths, const Glyphs& glyphs)
        : diagram_(diagram), options_(options), glyphs_(glyphs) {
        rails_.push_back(kIndent);
        for (const std::size_t width : widths) rails_.push_back(rails_.back() + width);
    }

    std::string draw() {
        draw_header();
        place_lines();
        for (std::size_t i = 0; i < diagram_.events.size(); ++i) draw_event(i);
        for (const Arrow& arrow : diagram_.arrows) draw_arrow(arrow);
        draw_rails();
        draw_verdict();
        return canvas_.to_string(options_.color);
    }

private:
    // The columns of rail's labels end here.
    std::size_t label_width(std::size_t rail) const {
        return rails_[rail + 1] - rails_[rail] - 2 - kLeastGap;
    }

    void draw_header() {
        for (std::size_t rail = 0; rail < diagram_.rails.size(); ++rail) {
            canvas_.put(0, rails_[rail], rails_text({diagram_.rails[rail]}), Style::bold);
        }
    }

    // Rows are as high as their highest label.
    void place_lines() {
        std::vector<std::size_t> heights(diagram_.rows, 1);
        for (const Event& event : diagram_.events) {
            labels_.push_back(wrap(event.label, label_width(event.rail), 2, glyphs_.ellipsis));
            heights[event.row] = std::max(heights[event.row], labels_.back().size());
        }
        line_of_row_ = {1};
        for (const std::size_t height : heights) {
            line_of_row_.push_back(line_of_row_.back() + height);
        }
    }

    void draw_event(std::size_t index) {
        const Event& event = diagram_.events[index];
        const std::size_t line = line_of_row_[event.row];
        const std::size_t rail = rails_[event.rail];
        const Style style = event.clash                       ? Style::clash
                            : event.kind == EventKind::call   ? Style::bold
                            : event.kind == EventKind::caller ? Style::dim
                                                              : Style::plain;
        canvas_.put(line, rail,
                    event.clash                       ? glyphs_.clash
                    : event.kind == EventKind::call   ? glyphs_.call
                    : event.kind == EventKind::folded ? glyphs_.folded
                                                      : glyphs_.step,
                    style);
        for (std::size_t i = 0; i < labels_[index].size(); ++i) {
            canvas_.put(line + i, rail + 2, labels_[index][i], style);
        }
    }

    // From the notify to the rail of the rank that waits, which is heavy from there to the wait.
    void draw_arrow(const Arrow& arrow) {
        const Event& from = diagram_.events[arrow.from];
        const Event& to = diagram_.events[arrow.to];
        const std::size_t line = line_of_row_[from.row];
        const std::size_t target = rails_[to.rail];
        if (from.rail < to.rail) {
            const std::size_t start = rails_[from.rail] + 3 + width_of(labels_[arrow.from][0]);
            draw_shaft(line, start, target - 1);
            canvas_.put(line, target - 1, glyphs_.right, Style::signal);
        } else if (from.rail > to.rail) {
            draw_shaft(line, target + 2, rails_[from.rail]);
            canvas_.put(line, target + 1, glyphs_.left, Style::signal);
        }
        const std::size_t first = from.rail == to.rail ? line + 1 : line;
        for (std::size_t i = first; i < line_of_row_[to.row]; ++i) {
            if (canvas_.is_empty(i, target)) {
                canvas_.put(i, target, glyphs_.notified, Style::signal);
            }
        }
    }
    void draw_shaft(std::size_t line, std::size_t first, std::size_t end) {
        for (std::size_t column = first; column < end; ++column) {
            const bool crosses = std::find(rails_.begin(), rails_.end(), column) != rails_.end();
            canvas_.put(line, column, crosses ? glyphs_.crossing : glyphs_.line, Style::signal);
        }
    }

    void draw_rails() {
        for (std::size_t line = 1; line < line_of_row_.back(); ++line) {
            for (std::size_t rail = 0; rail < diagram_.rails.size(); ++rail) {
                if (canvas_.is_empty(line, rails_[rail])) {
                    canvas_.put(line, rails_[rail], glyphs_.rail, Style::dim);
                }
            }
        }
    }

    // A bracket below what clashes, and the title in its first stretch if it fits there.
    void draw_verdict() {
        std::set<std::size_t> rails;
        for (const Event& event : diagram_.events) {
            if (event.clash) rails.insert(rails_[event.rail]);
        }
        if (rails.empty()) return;
        const std::size_t line = line_of_row_.back();
        const std::size_t first = *rails.begin();
        const std::size_t last = *rails.rbegin();
        canvas_.fill(line, first, last, glyphs_.bracket, Style::clash);
        for (const std::size_t rail : rails) canvas_.put(line, rail, glyphs_.tee, Style::clash);
        canvas_.put(line, last, glyphs_.to_right, Style::clash);
        canvas_.put(line, first, glyphs_.from_left, Style::clash);

        const std::size_t width = width_of(diagram_.title) + 2;
        const std::size_t end = first == last ? options_.width : *std::next(rails.begin());
        if (first + width + 4 > end) return draw_title_below(line + 1, first);
        const std::size_t column = first == last ? first + 1 : (first + end + 1 - width) / 2;
        canvas_.put(line, column, fmt::format(" {}", diagram_.title), Style::clash);
        if (first < last) canvas_.put(line, column + width - 1, " ", Style::clash);
    }
    void draw_title_below(std::size_t line, std::size_t first) {
        const std::size_t width = std::min(width_of(diagram_.title), options_.width - kIndent);
        const std::size_t column = std::min(first + 2, options_.width - width);
        for (const std::string& text : wrap(diagram_.title, width, 0, glyphs_.ellipsis)) {
            canvas_.put(line++, column, text, Style::clash);
        }
    }

    const Diagram& diagram_;
    const TerminalOptions& options_;
    const Glyphs& glyphs_;
    Canvas canvas_;
    std::vector<std::size_t> rails_;  // their columns; one more than there are rails
    std::vector<std::vector<std::string>> labels_;
    std::vector<std::size_t> line_of_row_;
};

// One step per line: "  4  rank 1  wait sig[0] >= 1 (after 2)".
std::string to_list(const Diagram& diagram, const TerminalOptions& options, const Glyphs& glyphs) {
    Canvas canvas;
    std::size_t rail_width = 0;
    for (const Rail& rail : diagram.rails) {
        rail_width = std::max(rail_width, rails_text({rail}).size());
    }
    const std::size_t label_column = kIndent + 8 + rail_width;
    const std::size_t room = std::max(options.width, label_column + kNarrowest) - label_column;
    std::size_t line = 0;
    for (std::size_t i = 0; i < diagram.events.size(); ++i) {
        const Event& event = diagram.events[i];
        std::string label = event.label;
        for (const Arrow& arrow : diagram.arrows) {
            if (arrow.to == i) label += fmt::format(" (after {})", arrow.from + 1);
        }
        const Style style = event.clash ? Style::clash : Style::plain;
        if (event.clash) canvas.put(line, 0, glyphs.clash, style);
        canvas.put(line, kIndent, fmt::format("{:>3}", i + 1), Style::dim);
        canvas.put(line, kIndent + 5, rails_text({diagram.rails[event.rail]}), Style::bold);
        for (const std::string& text : wrap(label, room, 2, glyphs.ellipsis)) {
            canvas.put(line++, label_column, text, style);
        }
    }
    canvas.put(line, 0, diagram.title, Style::clash);
    return canvas.to_string(options.color);
}

std::string who_line(std::string_view what, const std::string& who,
                     const TerminalOptions& options) {
    std::string lines;
    const std::string text = fmt::format("{}: {}", what, who);
    for (const std::string& line : wrap(text, options.width - kIndent, 2, "")) {
        lines += fmt::format("{:{}}{}\n", "", kIndent, line);
    }
    return lines;
}

}  // namespace

std::string to_terminal(const Diagram& diagram, const TerminalOptions& options) {
    const Glyphs& glyphs = options.unicode ? kUnicode : kAscii;
    // The gap right of the last rail stays empty.
    const std::size_t room = options.width + kLeastGap - std::min(options.width, kIndent);
    const auto draw = [&](const Diagram& what) {
        const std::vector<std::size_t> widths = rail_widths(what, room);
        return widths.empty() ? "" : TextPicture(what, options, widths, glyphs).draw();
    };
    std::string text = draw(diagram);
    if (text.empty()) {
        const Diagram less = focus_on_clash(diagram);
        text = draw(less);
        if (!text.empty() && !less.hidden.empty()) {
            text += who_line("take part, not drawn", rails_text(less.hidden), options);
        }
    }
    if (text.empty()) text = to_list(diagram, options, glyphs);
    for (const std::string& line : meanwhile_lines(diagram)) {
        text += fmt::format("{:{}}{}\n", "", kIndent, line);
    }
    if (diagram.idle.empty()) return text;
    return text + who_line("not involved", ranks_text(diagram.idle), options);
}

}  // namespace peal::draw
