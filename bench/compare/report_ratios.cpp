// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "figures.hpp"
#include "report.hpp"

namespace peal::bench {
namespace {

std::vector<std::string> titles_of(const Choice& choice, int nranks) {
    std::vector<std::string> titles = {ranks_text(choice, nranks)};
    for (const std::size_t bytes : choice.sizes) titles.push_back(size_text(bytes));
    return titles;
}

// Ours over the best peer, then the two times and who the peer is.
std::string cell(const Row* ours, const Row* peer) {
    if (ours != nullptr && peer != nullptr) {
        return fmt::format("**{:.2f}** {} / {} {}", ours->median_us / peer->median_us,
                           microseconds(ours->median_us), microseconds(peer->median_us),
                           peer->contender);
    }
    if (peer != nullptr) {
        return fmt::format("{} {}", microseconds(peer->median_us), peer->contender);
    }
    return ours != nullptr ? microseconds(ours->median_us) : "-";
}

std::string line(const Results& results, const Choice& choice, Point point,
                 const std::string& contender, const std::string& title) {
    std::vector<std::string> cells = {title};
    for (const std::size_t bytes : choice.sizes) {
        // A barrier has no size: its figure stands in the first column.
        const bool sized = point.task != Task::barrier;
        if (!sized && cells.size() > 1) {
            cells.emplace_back();
            continue;
        }
        point.bytes = sized ? bytes : 0;
        cells.push_back(cell(results.best_of(point, contender), results.best_peer(point)));
    }
    return table_row(cells);
}

std::string ratio_table(const Results& results, const Choice& choice, int nranks, bool cold) {
    std::string text = table_head(titles_of(choice, nranks));
    for (const Task task : choice.tasks) {
        if (cold && task == Task::barrier) continue;
        const Point point{nranks, task, 0, cold};
        text += line(results, choice, point, "peal", std::string(name(task)));
        if (task == Task::allreduce && choice.hosts == 1) {
            text += line(results, choice, point, "peal-windows", "allreduce in windows");
        }
    }
    return text + "\n";
}

}  // namespace

std::string ratio_tables(const Results& results, const Choice& choice) {
    std::string text =
        "### Ours and the best peer\n\nIn each cell: the ratio, our median / the best peer's "
        "median "
        "in µs, and which peer that is.\n\n";
    for (const bool cold : {false, true}) {
        if (cold && !choice.cold) continue;
        text += cold ? "Cold: the inputs are rewritten before each call.\n\n"
                     : "Warm: the same buffers again and again.\n\n";
        for (const int nranks : choice.ranks) text += ratio_table(results, choice, nranks, cold);
    }
    return text;
}

}  // namespace peal::bench
