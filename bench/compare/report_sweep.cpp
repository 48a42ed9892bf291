// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "figures.hpp"
#include "report.hpp"

namespace peal::bench {
namespace {

// A cliff: the time grows more than twice as much as the size.
constexpr double kCliff = 2;

struct Step {
    std::size_t bytes = 0;
    double us = 0;
};

std::string cliff_text(const Step& from, const Step& to) {
    if (from.bytes == 0) return "";
    const double more_bytes = static_cast<double>(to.bytes) / static_cast<double>(from.bytes);
    const double more_time = to.us / from.us;
    return more_time > kCliff * more_bytes ? fmt::format("cliff: {:.1f} times", more_time) : "";
}

std::string sweep_of(const Results& results, const Choice& choice, int nranks, Task task) {
    std::string text = fmt::format("{}, {} ranks\n\n", name(task), nranks) +
                       table_head({"bytes", "ours, µs", "GB/s", "best peer, µs", "", "ratio", ""});
    Step last;
    for (const std::size_t bytes : choice.sizes) {
        const Point point{nranks, task, bytes, false};
        const Row* ours = results.best_of(point, "peal");
        const Row* peer = results.best_peer(point);
        const Row* shown = ours != nullptr ? ours : peer;
        if (shown == nullptr) continue;
        const Step step{bytes, shown->median_us};
        text += table_row(
            {std::to_string(bytes), ours ? microseconds(ours->median_us) : "-",
             ours ? fmt::format("{:.2f}", static_cast<double>(bytes) / ours->median_us / 1e3) : "-",
             peer ? microseconds(peer->median_us) : "-", peer ? peer->contender : "-",
             ours && peer ? fmt::format("{:.2f}", ours->median_us / peer->median_us) : "-",
             cliff_text(last, step)});
        last = step;
    }
    return text + "\n";
}

}  // namespace

std::string sweep_report(const Results& results, const Choice& choice) {
    std::string text = conditions(results);
    for (const int nranks : choice.ranks) {
        for (const Task task : choice.tasks) {
            if (task != Task::barrier) text += sweep_of(results, choice, nranks, task);
        }
    }
    return text;
}

}  // namespace peal::bench
