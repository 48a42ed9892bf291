// SPDX-License-Identifier: Apache-2.0
// Beside busy processes: what must hold, and the figures.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "figures.hpp"
#include "report.hpp"

namespace peal::bench {
namespace {

constexpr const char* kOurs = "peal";

struct Ratios {
    double median = 0;
    double p90 = 0;
};

std::optional<Ratios> to_best_peer(const Results& results, const Point& point) {
    const Row* ours = results.best_of(point, kOurs);
    const Row* peer = results.best_peer(point);
    if (ours == nullptr || peer == nullptr) return std::nullopt;
    return Ratios{ours->median_us / peer->median_us,
                  ours->p90_us / results.best_peer_p90_us(point)};
}

// The same point on a quiet machine, in the same run.
std::optional<double> loaded_over_quiet(const Results& results, const Point& point) {
    Point quiet = point;
    quiet.noise = 0;
    const Row* loaded = results.best_of(point, kOurs);
    const Row* alone = results.best_of(quiet, kOurs);
    if (loaded == nullptr || alone == nullptr) return std::nullopt;
    return loaded->median_us / alone->median_us;
}

// One line of what must hold: the values of the points that it is about, each at most `most`.
class Bound {
public:
    Bound(std::string text, double most) : text_(std::move(text)), most_(most) {}

    void add(const Point& point, double value) {
        ++points_;
        worst_ = std::max(worst_, value);
        if (value <= most_) return;
        misses_.push_back(
            fmt::format("{} {} {:.2f}", name(point.task), size_text(point.bytes), value));
    }

    void add_missing(const Point& point) {
        missing_.push_back(
            fmt::format("{} {} not measured", name(point.task), size_text(point.bytes)));
    }

    std::string row() const {
        const std::string most = fmt::format("{}", most_);
        if (points_ == 0) return table_row({text_, most, "not measured", "", ""});
        return table_row({text_, most,
                          fmt::format("{:.2f} ({} of {} points hold)", worst_,
                                      points_ - misses_.size(), points_ + missing_.size()),
                          !misses_.empty()   ? "**miss**"
                          : missing_.empty() ? "pass"
                                             : "**missing**",
                          fmt::format("{}{}{}", fmt::join(misses_, ", "),
                                      misses_.empty() || missing_.empty() ? "" : ", ",
                                      fmt::join(missing_, ", "))});
    }

private:
    std::string text_;
    double most_;
    double worst_ = 0;
    std::size_t points_ = 0;
    std::vector<std::string> misses_, missing_;
};

std::string busy(int noise) {
    return fmt::format("{} busy process{}", noise, noise == 1 ? "" : "es");
}

std::string bounds_to_peers(const Results& results, const std::vector<Point>& points, int nranks,
                            int noise) {
    Bound median(fmt::format("{} ranks, {}, median", nranks, busy(noise)), 1);
    Bound p90(fmt::format("{} ranks, {}, 90th percentile", nranks, busy(noise)), 1);
    for (const Point& point : points) {
        if (point.nranks != nranks || point.noise != noise || point.task == Task::uneven) continue;
        const auto ratios = to_best_peer(results, point);
        if (!ratios) {
            median.add_missing(point);
            p90.add_missing(point);
            continue;
        }
        median.add(point, ratios->median);
        p90.add(point, ratios->p90);
    }
    return median.row() + p90.row();
}

std::string bound_to_quiet(const Results& results, const std::vector<Point>& points) {
    constexpr std::size_t kLargest = 64 << 10;
    Bound bound("ours, loaded / quiet, 2 ranks, up to 64 KiB, 1 busy process, median", 3);
    for (const Point& point : points) {
        if (point.nranks != 2 || point.noise != 1 || point.bytes > kLargest) continue;
        if (const auto ratio = loaded_over_quiet(results, point)) {
            bound.add(point, *ratio);
        } else {
            bound.add_missing(point);
        }
    }
    return bound.row();
}

// Ranks that compute for 10 ms and more than each other, then meet.
std::string bound_of_uneven(const Results& results, const Choice& choice, int nranks, int noise) {
    Bound bound(
        fmt::format("{} ranks, {}, uneven computations of 10 ms, median", nranks, busy(noise)), 1);
    const Point point{nranks, Task::uneven, kUnevenBytes, false, noise};
    if (const auto ratios = to_best_peer(results, point)) bound.add(point, ratios->median);
    return choice.uneven ? bound.row() : "";
}

std::string cell(const Results& results, const Point& point) {
    const auto ratios = to_best_peer(results, point);
    if (!ratios) return "-";
    const Row* peer = results.best_peer(point);
    return fmt::format("**{:.2f}, {:.2f}** {} / {} {}", ratios->median, ratios->p90,
                       microseconds(results.best_of(point, kOurs)->median_us),
                       microseconds(peer->median_us), peer->contender);
}

std::string figures(const Results& results, const Choice& choice, int nranks, int noise) {
    std::vector<std::string> titles = {fmt::format("{} ranks, {}", nranks, busy(noise))};
    for (const std::size_t bytes : choice.sizes) titles.push_back(size_text(bytes));
    std::string text = table_head(titles);
    for (const Task task : choice.tasks) {
        std::vector<std::string> cells = {std::string(name(task))};
        const bool is_sized = task != Task::barrier;
        for (const std::size_t bytes : choice.sizes) {
            const Point point{nranks, task, is_sized ? bytes : 0, false, noise};
            const bool is_repeated = !is_sized && cells.size() > 1;
            cells.push_back(is_repeated ? "" : cell(results, point));
        }
        text += table_row(cells);
    }
    return text + "\n";
}

}  // namespace

std::string noise_report(const Results& results, const Choice& choice) {
    const std::vector<Point> points = points_of(choice);
    std::string bounds, tables;
    for (const int nranks : choice.ranks) {
        for (const int noise : choice.noise) {
            bounds += bounds_to_peers(results, points, nranks, noise);
            bounds += bound_of_uneven(results, choice, nranks, noise);
            tables += figures(results, choice, nranks, noise);
        }
    }
    return conditions(results) + "Ours over the best peer, warm.\n\n" +
           table_head({"case", "at most", "worst", "", "misses"}) + bounds +
           bound_to_quiet(results, points) +
           "\nIn each cell: the ratio of the medians and of the 90th percentiles, our median / the "
           "best peer's median in µs, and which peer that is.\n\n" +
           tables;
}

}  // namespace peal::bench
