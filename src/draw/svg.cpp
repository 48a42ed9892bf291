// SPDX-License-Identifier: Apache-2.0
#include "draw/pictures.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "draw/layout.hpp"
#include "draw/svg_style.hpp"
#include "draw/svg_text.hpp"
#include "draw/wrap.hpp"

namespace peal::draw {
namespace {

// In pixels; labels are set in a fixed-width face, so their width is known.
constexpr double kMargin = 32;
constexpr double kLeastRailGap = 52;
constexpr double kLineHeight = 17;
constexpr double kPlaceHeight = 13;
constexpr double kBoxPadding = 7;
constexpr double kRowGap = 13;
constexpr double kMonoWidth = 7.3;   // of a character of a label
constexpr double kProseWidth = 7.2;  // of a character of the message, about
constexpr double kLeastWidth = 640;
constexpr double kHeaderHeight = 30;
constexpr double kTitleHeight = 34;
constexpr double kPillHeight = 28;
constexpr double kFirstChannel = 18;  // from the box that the arrow enters
constexpr double kChannel = 9;        // between arrows that run beside each other
constexpr double kCorner = 7;
constexpr std::size_t kWidestLabel = 28;  // characters
constexpr std::size_t kNarrowestLabel = 16;

std::string_view css_class(const Event& event) {
    if (event.blocked) return "clash blocked";
    if (event.clash) return "clash";
    switch (event.kind) {
        case EventKind::call: return "call";
        case EventKind::caller: return "caller";
        case EventKind::data: return "data";
        case EventKind::notify: return "notify";
        case EventKind::wait: return "wait";
        case EventKind::pipe:
        case EventKind::folded: return "pipe";
    }
    return "";
}

class Picture {
public:
    explicit Picture(const Diagram& diagram)
        : diagram_(diagram), channels_(arrow_channels(diagram)) {
        // The half keeps arrows of the two sides of a gap apart.
        for (const std::size_t channel : channels_) {
            const double channels = static_cast<double>(channel) + 0.5;
            rail_gap_ = std::max(rail_gap_, 2 * kFirstChannel + kChannel * channels);
        }
        break_lines();
        place_boxes();
    }

    std::string draw() {
        std::string page = title() + headers() + arrows() + events();
        page += verdict();
        page += idle();
        return fmt::format(
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" "
                   "viewBox=\"0 0 {0:g} {1:g}\" role=\"img\">\n<title>{2}</title>\n",
                   width_, bottom_ + kMargin, escape_xml(diagram_.title)) +
               std::string(kSvgStyle) + svg_box({0, 0, width_, bottom_ + kMargin}, 10, "page") +
               page + "</svg>\n";
    }

private:
    // ------------------------------------------------------------------------ placing

    void break_lines() {
        std::size_t widest = kNarrowestLabel;
        for (const Event& event : diagram_.events) {
            labels_.push_back(wrap(event.label, kWidestLabel, 2, "…"));
            for (const std::string& line : labels_.back())
                widest = std::max(widest, width_of(line));
        }
        box_width_ = static_cast<double>(widest) * kMonoWidth + 2 * 10;
        const auto rails = static_cast<double>(diagram_.rails.size());
        const double content = rails * box_width_ + (rails - 1) * rail_gap_;
        width_ = std::max(content + 2 * kMargin, kLeastWidth);
        first_rail_ = (width_ - content) / 2;
        message_ = wrap(diagram_.message,
                        static_cast<std::size_t>((width_ - 2 * kMargin) / kProseWidth), 0, "…");
        top_ = kMargin + kTitleHeight + static_cast<double>(message_.size()) * kLineHeight + 16;
    }

    double rail_left(std::size_t rail) const {
        return first_rail_ + static_cast<double>(rail) * (box_width_ + rail_gap_);
    }
    double height_of(std::size_t event) const {
        const double place = diagram_.events[event].where.empty() ? 0 : kPlaceHeight;
        return static_cast<double>(labels_[event].size()) * kLineHeight + place + 2 * kBoxPadding;
    }

    void place_boxes() {
        std::vector<double> heights(diagram_.rows, 0);
        for (std::size_t i = 0; i < diagram_.events.size(); ++i) {
            double& height = heights[diagram_.events[i].row];
            height = std::max(height, height_of(i));
        }
        std::vector<double> tops = {top_ + kHeaderHeight + kRowGap};
        for (const double height : heights) tops.push_back(tops.back() + height + kRowGap);
        for (std::size_t i = 0; i < diagram_.events.size(); ++i) {
            const Event& event = diagram_.events[i];
            const double slack = heights[event.row] - height_of(i);
            boxes_.push_back(
                {rail_left(event.rail), tops[event.row] + slack / 2, box_width_, height_of(i)});
        }
        bottom_ = rails_end_ = tops.back();
    }

    // ------------------------------------------------------------------------ drawing

    std::string title() const {
        double y = kMargin + 16;
        std::string out = svg_text(kMargin, y, "title", "start", diagram_.title);
        y += 10;
        for (const std::string& line : message_) {
            out += svg_text(kMargin, y += kLineHeight, "message", "start", line);
        }
        return out;
    }

    std::string headers() const {
        std::string out;
        for (std::size_t rail = 0; rail < diagram_.rails.size(); ++rail) {
            const Box box{rail_left(rail), top_, box_width_, kHeaderHeight};
            out += fmt::format("<path d=\"M{:g},{:g}V{:g}\" class=\"rail\"/>\n", box.center(),
                               box.bottom(), rails_end_);
            out += svg_box(box, 6, "header");
            out += svg_text(box.center(), box.middle() + 5, "rank", "middle",
                            rails_text({diagram_.rails[rail]}));
        }
        return out;
    }

    std::string events() const {
        std::string out;
        for (std::size_t i = 0; i < diagram_.events.size(); ++i) out += draw_event(i);
        return out;
    }

    std::string draw_event(std::size_t index) const {
        const Event& event = diagram_.events[index];
        const Box& box = boxes_[index];
        std::string out = "<g>\n";
        if (!event.detail.empty()) {
            out += fmt::format("<title>{}</title>\n", escape_xml(event.detail));
        }
        if (event.kind == EventKind::call) {
            const double width = static_cast<double>(width_of(event.label)) * kMonoWidth + 24;
            out += svg_box({box.center() - width / 2, box.top + 3, width, box.height - 6}, 12.5,
                           css_class(event));
            return out +
                   svg_text(box.center(), box.middle() + 4, "call-text", "middle", event.label) +
                   "</g>\n";
        }
        out += svg_box(box, 6, css_class(event));
        double y = box.top + kBoxPadding - 4;
        for (const std::string& line : labels_[index]) {
            out += svg_text(box.left + 10, y += kLineHeight,
                            event.clash ? "label clash-text" : "label", "start", line);
        }
        if (!event.where.empty()) {
            out += svg_text(box.right() - 10, y + kPlaceHeight + 1, "place", "end", event.where);
        }
        return out + "</g>\n";
    }

    std::string arrows() const {
        std::string out;
        for (std::size_t i = 0; i < diagram_.arrows.size(); ++i) {
            out += draw_arrow(diagram_.arrows[i], static_cast<double>(channels_[i]));
        }
        return out;
    }

    // Along the row of the notify to the side of the rail that waits, down to the wait, and in.
    std::string draw_arrow(const Arrow& arrow, double channel) const {
        const std::size_t from = diagram_.events[arrow.from].rail;
        const std::size_t to = diagram_.events[arrow.to].rail;
        const Box& start = boxes_[arrow.from];
        const Box& end = boxes_[arrow.to];
        const double side = from < to ? -1 : 1;  // of the wait's box
        const double start_x = from == to ? start.right() : side < 0 ? start.right() : start.left;
        const double end_x = side < 0 ? end.left : end.right();
        const double x = end_x + side * (kFirstChannel + kChannel * channel);
        const double inwards = from == to ? -kCorner : side * kCorner;  // to the start, at x
        const std::string path =
            fmt::format("M{:g},{:g}H{:g}Q{:g},{:g} {:g},{:g}V{:g}Q{:g},{:g} {:g},{:g}H{:g}",
                        start_x, start.middle(), x + inwards, x, start.middle(), x,
                        start.middle() + kCorner, end.middle() - kCorner, x, end.middle(),
                        x - side * kCorner, end.middle(), end_x + side * 8);
        return fmt::format(
            "<path d=\"{0}\" class=\"halo\"/>\n<path d=\"{0}\" class=\"arrow\"/>\n"
            "<path d=\"M{1:g},{2:g}l{3:g},-4.5v9z\" class=\"head\"/>\n",
            path, end_x + side, end.middle(), side * 10);
    }

    // A bracket below what clashes, with the title on it.
    std::string verdict() {
        std::vector<double> stems;
        for (std::size_t i = 0; i < boxes_.size(); ++i) {
            if (diagram_.events[i].clash) stems.push_back(boxes_[i].center());
        }
        const double y = rails_end_ + kPillHeight / 2 + 6;
        const auto [first, last] = std::minmax_element(stems.begin(), stems.end());
        const double center = stems.empty() ? width_ / 2 : (*first + *last) / 2;
        std::string out;
        for (std::size_t i = 0; i < boxes_.size(); ++i) {
            if (!diagram_.events[i].clash) continue;
            out += fmt::format("<path d=\"M{0:g},{1:g}V{2:g}H{3:g}\" class=\"bracket\"/>\n",
                               boxes_[i].center(), boxes_[i].bottom(), y, center);
        }
        const double width = static_cast<double>(width_of(diagram_.title)) * kMonoWidth + 28;
        const double left = std::clamp(center - width / 2, 8.0, std::max(8.0, width_ - 8 - width));
        const Box pill{left, y - kPillHeight / 2, width, kPillHeight};
        bottom_ = pill.bottom();
        return out + svg_box(pill, kPillHeight / 2, "verdict") +
               svg_text(pill.center(), pill.middle() + 4.5, "verdict-text", "middle",
                        diagram_.title);
    }

    std::string idle() {
        std::vector<std::string> lines = meanwhile_lines(diagram_);
        if (!diagram_.idle.empty()) lines.push_back("not involved: " + ranks_text(diagram_.idle));
        std::string text;
        for (const std::string& line : lines) {
            bottom_ += 32;
            text += svg_text(kMargin, bottom_, "idle", "start", line);
        }
        return text;
    }

    const Diagram& diagram_;
    std::vector<std::size_t> channels_;             // by arrow
    std::vector<std::vector<std::string>> labels_;  // lines, by event
    std::vector<std::string> message_;
    std::vector<Box> boxes_;  // by event
    double rail_gap_ = kLeastRailGap, box_width_ = 0, width_ = 0, first_rail_ = 0;
    double top_ = 0, rails_end_ = 0, bottom_ = 0;
};

}  // namespace

std::string to_svg(const Diagram& diagram) { return Picture(diagram).draw(); }

}  // namespace peal::draw
