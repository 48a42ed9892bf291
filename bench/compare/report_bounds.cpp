// SPDX-License-Identifier: Apache-2.0
// What must hold, and whether it does.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "figures.hpp"
#include "machine.hpp"
#include "report.hpp"

namespace peal::bench {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = kKiB * kKiB;

struct Rule {
    std::string text;
    std::string contender;
    double most;
    std::function<bool(const Point&)> applies;
};

bool is_between(std::size_t bytes, std::size_t least, std::size_t most) {
    return bytes >= least && bytes <= most;
}

// Of the six collectives that every table has.
Rule usual(const std::string& text, const std::string& contender, double most,
           std::function<bool(const Point&)> applies) {
    return {text, contender, most, [applies = std::move(applies)](const Point& p) {
                return !is_further(p.task) && applies(p);
            }};
}

Rule further(const std::string& text, int nranks) {
    return {text, "peal", 0.8,
            [nranks](const Point& p) { return is_further(p.task) && p.nranks == nranks; }};
}

std::vector<Rule> rules() {
    return {
        usual("2 ranks, up to 256 B, and barrier", "peal", 0.6,
              [](const Point& p) { return p.nranks == 2 && is_between(p.bytes, 0, 256); }),
        usual("2 ranks, 4 KiB to 64 KiB", "peal", 0.75,
              [](const Point& p) {
                  return p.nranks == 2 && is_between(p.bytes, 4 * kKiB, 64 * kKiB);
              }),
        usual("2 ranks, from 1 MiB", "peal", 0.7,
              [](const Point& p) { return p.nranks == 2 && p.bytes >= kMiB; }),
        usual("2 ranks, allreduce in windows, up to 256 B", "peal-windows", 0.6,
              [](const Point& p) { return p.nranks == 2 && is_between(p.bytes, 8, 256); }),
        usual("2 ranks, allreduce in windows, from 4 KiB", "peal-windows", 0.4,
              [](const Point& p) { return p.nranks == 2 && p.bytes >= 4 * kKiB; }),
        usual("4 ranks", "peal", 0.9, [](const Point& p) { return p.nranks == 4; }),
        usual("8 ranks", "peal", 1.0, [](const Point& p) { return p.nranks == 8; }),
    };
}

// One for each of the rank counts.
std::vector<Rule> further_rules(const Choice& choice) {
    std::vector<Rule> list;
    for (const int nranks : choice.ranks) {
        list.push_back(further(fmt::format("{} ranks", nranks), nranks));
    }
    return list;
}

std::vector<Rule> hosts_rules(const Choice& choice) {
    const int hosts = choice.hosts;
    const auto is_shared = [hosts](const Point& p) {
        return p.task == Task::allreduce && p.nranks > hosts;
    };
    return {
        usual("up to 4 KiB, and barrier", "peal", 0.8,
              [](const Point& p) { return p.bytes <= 4 * kKiB; }),
        usual("from 64 KiB", "peal", 0.75,
              [=](const Point& p) { return p.bytes >= 64 * kKiB && !is_shared(p); }),
        usual("allreduce, 2 ranks on each host, from 64 KiB", "peal", 0.6,
              [=](const Point& p) { return p.bytes >= 64 * kKiB && is_shared(p); }),
        usual("all", "peal", 1.0, [](const Point&) { return true; }),
    };
}

struct Ratio {
    Point point;
    double value = 0;
};

// Warm, in the order of the points.
std::vector<Ratio> ratios(const Results& results, const std::string& contender,
                          const std::function<bool(const Point&)>& applies) {
    std::vector<Ratio> found;
    for (const Row& row : results.rows()) {
        const Point& point = row.point;
        if (row.contender != contender || !row.counts || point.cold || !applies(point)) continue;
        if (const Row* peer = results.best_peer(point)) {
            found.push_back({point, row.median_us / peer->median_us});
        }
    }
    return found;
}

const std::string kHead =
    "### What must hold\n\nThe median of ours over the median of the best peer, warm.\n\n";

std::string verdict(bool holds) { return holds ? "pass" : "**miss**"; }

std::string short_name(const Point& point) {
    return point.bytes == 0 ? std::string(name(point.task))
                            : fmt::format("{} {}", name(point.task), size_text(point.bytes));
}

std::string rule_row(const Results& results, const Rule& rule) {
    const std::vector<Ratio> all = ratios(results, rule.contender, rule.applies);
    if (all.empty())
        return table_row({rule.text, fmt::format("{}", rule.most), "not measured", "", ""});
    std::vector<std::string> misses;
    double worst = 0;
    for (const Ratio& ratio : all) {
        worst = std::max(worst, ratio.value);
        if (ratio.value > rule.most) {
            misses.push_back(fmt::format("{} {:.2f}", short_name(ratio.point), ratio.value));
        }
    }
    return table_row({rule.text, fmt::format("{}", rule.most),
                      fmt::format("{:.2f} ({} of {} points hold)", worst,
                                  all.size() - misses.size(), all.size()),
                      verdict(misses.empty()), fmt::format("{}", fmt::join(misses, ", "))});
}

std::string mean_row(const Results& results) {
    std::vector<double> values;
    for (const Ratio& ratio : ratios(
             results, "peal", [](const Point& p) { return p.nranks > 2 && !is_further(p.task); })) {
        values.push_back(ratio.value);
    }
    constexpr double kMost = 0.45;
    const std::string text = "4 and 8 ranks, geometric mean";
    if (values.empty()) return table_row({text, "0.45", "not measured", "", ""});
    const double mean = geometric_mean(values);
    return table_row({text, "0.45", fmt::format("{:.2f}", mean), verdict(mean <= kMost), ""});
}

std::string latency_row(const Results& results) {
    constexpr double kMost = 3;
    const std::string text = "allreduce, 2 ranks, 8 B / one-way hand-off";
    const Row* row = results.best_of({2, Task::allreduce, 8, false}, "peal");
    const auto handoff = row ? handoff_us(results, row->state) : std::nullopt;
    if (!handoff) return table_row({text, "3", "not measured", "", ""});
    const double ratio = row->median_us / *handoff;
    return table_row({text, "3", fmt::format("{:.2f}", ratio), verdict(ratio <= kMost), ""});
}

std::string bandwidth_row(const Results& results, std::size_t bytes) {
    constexpr double kLeast = 0.75;
    const std::string text =
        fmt::format("allreduce, 2 ranks, {}: share of the bandwidth bound", size_text(bytes));
    const Row* row = results.best_of({2, Task::allreduce, bytes, false}, "peal");
    const auto bound = row ? allreduce_bound_us(results, bytes, row->state) : std::nullopt;
    if (!bound) return table_row({text, "at least 0.75", "not measured", "", ""});
    const double share = *bound / row->median_us;
    return table_row(
        {text, "at least 0.75", fmt::format("{:.2f}", share), verdict(share >= kLeast), ""});
}

std::string wire_row(const Results& results) {
    constexpr double kLeast = 0.8;
    constexpr std::size_t kBytes = 16 * kMiB;
    const std::string text = "allreduce, 1 rank on each host, 16 MiB: share of the network's limit";
    const Row* row = results.best_of({2, Task::allreduce, kBytes, false}, "peal");
    const auto bound = row ? wire_us(results, Task::tcp_both, kBytes, row->state) : std::nullopt;
    if (!bound) return table_row({text, "at least 0.8", "not measured", "", ""});
    const double share = *bound / row->median_us;
    return table_row(
        {text, "at least 0.8", fmt::format("{:.2f}", share), verdict(share >= kLeast), ""});
}

}  // namespace

std::string bounds_table(const Results& results) {
    std::string text = kHead + table_head({"case", "at most", "worst", "", "misses"});
    for (const Rule& rule : rules()) text += rule_row(results, rule);
    text += mean_row(results) + latency_row(results);
    for (const std::size_t bytes : {16 * kMiB, 64 * kMiB}) text += bandwidth_row(results, bytes);
    return text + "\n";
}

std::string hosts_bounds_table(const Results& results, const Choice& choice) {
    std::string text = kHead + table_head({"case", "at most", "worst", "", "misses"});
    for (const Rule& rule : hosts_rules(choice)) text += rule_row(results, rule);
    return text + wire_row(results) + "\n";
}

std::string further_bounds_table(const Results& results, const Choice& choice) {
    std::string text = kHead + table_head({"case", "at most", "worst", "", "misses"});
    for (const Rule& rule : further_rules(choice)) text += rule_row(results, rule);
    return text + "\n";
}

}  // namespace peal::bench
