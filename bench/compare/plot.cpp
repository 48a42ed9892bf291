// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "figures.hpp"
#include "report.hpp"

namespace peal::bench {
namespace {

constexpr double kPanelWidth = 300;
constexpr double kPanelHeight = 170;
constexpr double kLeft = 60;
constexpr double kTop = 60;
constexpr double kGapX = 60;
constexpr double kGapY = 50;

struct Series {
    std::string_view title;
    std::string_view colour;
    double width;
    bool is_family;
};

constexpr std::array kSeries = {
    Series{"Open MPI", "#d97706", 1.5, true}, Series{"MPICH", "#7c3aed", 1.5, true},
    Series{"Gloo", "#6b7280", 1.5, true},     Series{"peal-windows", "#34d399", 2, false},
    Series{"peal", "#047857", 3, false},
};

// Logarithmic in both directions, one scale for all panels.
class Scale {
public:
    Scale(const Results& results, const Choice& choice) {
        first_size_ = std::log10(static_cast<double>(choice.sizes.front()));
        last_size_ = std::log10(static_cast<double>(choice.sizes.back()));
        double least = 1e9;
        double most = 1e-9;
        for (const Row& row : results.rows()) {
            if (!row.counts || row.team == Team::limits || row.point.bytes == 0) continue;
            least = std::min(least, row.median_us);
            most = std::max(most, row.median_us);
        }
        low_ = std::floor(std::log10(least));
        high_ = std::max(low_ + 1, std::ceil(std::log10(most)));
    }

    double x(double bytes) const {
        const double span = std::max(last_size_ - first_size_, 1e-9);
        return (std::log10(bytes) - first_size_) / span * kPanelWidth;
    }
    double y(double us) const {
        return (1 - (std::log10(us) - low_) / (high_ - low_)) * kPanelHeight;
    }
    int low() const { return static_cast<int>(low_); }
    int high() const { return static_cast<int>(high_); }

private:
    double first_size_;
    double last_size_;
    double low_;
    double high_;
};

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, text);
}

std::string grid(const Scale& scale, const Choice& choice) {
    std::string svg =
        fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#999\"/>\n",
                    kPanelWidth, kPanelHeight);
    for (int power = scale.low(); power <= scale.high(); power += 2) {
        const double y = scale.y(std::pow(10, power));
        svg += fmt::format("<line x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n",
                           kPanelWidth, y, y);
        svg += text_at(-6, y + 4, "end", fmt::format("{:g} µs", std::pow(10, power)));
    }
    for (std::size_t i = 0; i < choice.sizes.size(); i += 2) {
        svg += text_at(scale.x(static_cast<double>(choice.sizes[i])), kPanelHeight + 14, "middle",
                       size_text(choice.sizes[i]));
    }
    return svg;
}

std::string curve(const Results& results, const Choice& choice, const Scale& scale, Point point,
                  const Series& series) {
    std::string points;
    for (const std::size_t bytes : choice.sizes) {
        point.bytes = bytes;
        const std::string title(series.title);
        const Row* row =
            series.is_family ? results.best_of_family(point, title) : results.best_of(point, title);
        if (row == nullptr) continue;
        points += fmt::format("{:.1f},{:.1f} ", scale.x(static_cast<double>(bytes)),
                              scale.y(row->median_us));
    }
    return fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n", points,
        series.colour, series.width);
}

std::string panel(const Results& results, const Choice& choice, const Scale& scale, Point point) {
    std::string svg = grid(scale, choice);
    svg += text_at(kPanelWidth / 2, -8, "middle",
                   fmt::format("{}, {} ranks", name(point.task), point.nranks));
    for (const Series& series : kSeries) svg += curve(results, choice, scale, point, series);
    return svg;
}

std::string legend() {
    std::string svg;
    double x = kLeft;
    for (const Series& series : kSeries) {
        svg += fmt::format(
            "<line x1=\"{}\" x2=\"{}\" y1=\"20\" y2=\"20\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
            x, x + 30, series.colour, series.width);
        svg += text_at(x + 36, 24, "start", series.title);
        x += 150;
    }
    return svg;
}

}  // namespace

std::string plot(const Results& results, const Choice& choice) {
    const Scale scale(results, choice);
    std::vector<Task> tasks = choice.tasks;
    std::erase(tasks, Task::barrier);
    std::string panels;
    for (std::size_t row = 0; row < tasks.size(); ++row) {
        for (std::size_t column = 0; column < choice.ranks.size(); ++column) {
            panels += fmt::format(
                "<g transform=\"translate({},{})\">\n{}</g>\n",
                kLeft + static_cast<double>(column) * (kPanelWidth + kGapX),
                kTop + static_cast<double>(row) * (kPanelHeight + kGapY),
                panel(results, choice, scale, {choice.ranks[column], tasks[row], 0, false}));
        }
    }
    const double width = kLeft + static_cast<double>(choice.ranks.size()) * (kPanelWidth + kGapX);
    const double height = kTop + static_cast<double>(tasks.size()) * (kPanelHeight + kGapY);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
        "font-family=\"sans-serif\" "
        "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}{}</svg>\n",
        width, height, legend(), panels);
}

}  // namespace peal::bench
