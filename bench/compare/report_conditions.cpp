// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "figures.hpp"
#include "report.hpp"

namespace peal::bench {
namespace {

constexpr double kQuietCores = 0.12;

std::string processor() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
    }
    return "processor of unknown name";
}

std::string state_shares(const Results& results) {
    std::map<State, std::size_t> batches;
    std::size_t all = 0;
    for (const Row& row : results.rows()) {
        batches[row.state] += row.batches;
        all += row.batches;
    }
    std::vector<std::string> shares;
    for (const auto& [state, count] : batches) {
        shares.push_back(
            fmt::format("{} {:.0f} %", name(state),
                        100.0 * static_cast<double>(count) / static_cast<double>(all)));
    }
    return fmt::format("{}", fmt::join(shares, ", "));
}

// Of the points, not of the rows.
std::pair<std::size_t, std::size_t> loaded_points(const Results& results) {
    std::map<Point, double> load;
    for (const Row& row : results.rows()) {
        if (row.point.noise == 0) load[row.point] = row.foreign_cores;
    }
    const auto loaded = std::count_if(load.begin(), load.end(),
                                      [](const auto& entry) { return entry.second > kQuietCores; });
    return {static_cast<std::size_t>(loaded), load.size()};
}

std::string troubles(const Results& results) {
    if (results.troubles().empty()) return "";
    std::string text = "\nMissing:\n\n";
    for (const Trouble& trouble : results.troubles()) {
        text += fmt::format("- {}: {} {}: {}\n", print(trouble.point), trouble.contender,
                            trouble.way == "-" ? "" : trouble.way, trouble.what);
    }
    return text;
}

}  // namespace

std::string conditions(const Results& results) {
    const auto [loaded, points] = loaded_points(results);
    return fmt::format(
               "{}, {} cores. Placement of the cores, by batches: {}. Other programs used more "
               "than "
               "{} core at {} of {} points.\n",
               processor(), sysconf(_SC_NPROCESSORS_ONLN), state_shares(results), kQuietCores,
               loaded, points) +
           troubles(results) + "\n";
}

}  // namespace peal::bench
