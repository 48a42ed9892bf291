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
    bool or_bound = false;  // or so near to what the machine can copy: kNearBound
};
constexpr double kNearBound = 1.08;

bool only_copies(Task task) {
    return task == Task::allgather || task == Task::broadcast || task == Task::all_to_all;
}

// All that is done in windows.
bool is_pair_allreduce(const Point& p) { return p.nranks == 2 && p.task == Task::allreduce; }

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

Rule near_bound(Rule rule) {
    rule.or_bound = true;
    return rule;
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
        usual("2 ranks, from 1 MiB, with a reduction", "peal", 0.7,
              [](const Point& p) {
                  return p.nranks == 2 && p.bytes >= kMiB && !only_copies(p.task);
              }),
        near_bound(usual("2 ranks, from 1 MiB, copies only; or 1.08 of the bound", "peal", 0.7,
                         [](const Point& p) {
                             return p.nranks == 2 && p.bytes >= kMiB && only_copies(p.task);
                         })),
        usual("2 ranks, allreduce in windows, up to 256 B", "peal-windows", 0.6,
              [](const Point& p) { return is_pair_allreduce(p) && is_between(p.bytes, 8, 256); }),
        usual("2 ranks, allreduce in windows, from 4 KiB", "peal-windows", 0.4,
              [](const Point& p) { return is_pair_allreduce(p) && p.bytes >= 4 * kKiB; }),
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
    double to_bound = 0;  // ours over what the machine can copy; 0: there is no such bound
};

// What a row of the table is about.
struct Evidence {
    std::vector<Ratio> ratios;
    std::vector<Point> missing;  // chosen, and not measured by us or by any peer
};

// Warm unless said, in the order of the points.
Evidence evidence(const Results& results, const Choice& choice, const std::string& contender,
                  const std::function<bool(const Point&)>& applies, bool cold = false) {
    Evidence found;
    for (const Point& point : points_of(choice)) {
        if (is_limit(point.task) || point.cold != cold || !applies(point)) continue;
        const Row* const ours = results.best_of(point, contender);
        const Row* const peer = results.best_peer(point);
        if (ours == nullptr || peer == nullptr) {
            found.missing.push_back(point);
            continue;
        }
        const auto bound = copying_bound_us(results, point.task, point.bytes, ours->state);
        found.ratios.push_back(
            {point, ours->median_us / peer->median_us, bound ? ours->median_us / *bound : 0});
    }
    return found;
}

const std::string kHead =
    "### What must hold\n\nThe median of ours over the median of the best peer, warm.\n\n";

std::string verdict(bool holds) { return holds ? "pass" : "**miss**"; }

// What is not known is no pass.
std::string verdict(bool holds, const Evidence& all) {
    return holds && !all.missing.empty() ? "**missing**" : verdict(holds);
}

std::string short_name(const Point& point) {
    return point.bytes == 0 ? std::string(name(point.task))
                            : fmt::format("{} {}", name(point.task), size_text(point.bytes));
}

std::string missing_names(const Evidence& all) {
    std::vector<std::string> names;
    for (const Point& point : all.missing) names.push_back(short_name(point) + " not measured");
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string bound_row(const Rule& rule, const Evidence& all) {
    if (all.ratios.empty())
        return table_row({rule.text, fmt::format("{}", rule.most), "not measured", "", ""});
    std::vector<std::string> misses;
    double worst = 0;
    for (const Ratio& ratio : all.ratios) {
        worst = std::max(worst, ratio.value);
        const bool is_near = rule.or_bound && ratio.to_bound > 0 && ratio.to_bound <= kNearBound;
        if (ratio.value <= rule.most || is_near) continue;
        misses.push_back(fmt::format("{} {:.2f}", short_name(ratio.point), ratio.value));
        if (rule.or_bound && ratio.to_bound > 0) {
            misses.back() += fmt::format(" ({:.2f} of the bound)", ratio.to_bound);
        }
    }
    const std::string verdict_text = verdict(misses.empty(), all);
    const std::string holding =
        fmt::format("{:.2f} ({} of {} points hold)", worst, all.ratios.size() - misses.size(),
                    all.ratios.size() + all.missing.size());
    if (!all.missing.empty()) misses.push_back(missing_names(all));
    return table_row({rule.text, fmt::format("{}", rule.most), holding, verdict_text,
                      fmt::format("{}", fmt::join(misses, ", "))});
}

std::string rule_row(const Results& results, const Choice& choice, const Rule& rule) {
    return bound_row(rule, evidence(results, choice, rule.contender, rule.applies));
}

std::string mean_row(const std::string& text, double most, const Evidence& all) {
    std::vector<double> values;
    for (const Ratio& ratio : all.ratios) values.push_back(ratio.value);
    const std::string limit = fmt::format("{}", most);
    if (values.empty()) return table_row({text, limit, "not measured", "", ""});
    const double mean = geometric_mean(values);
    return table_row(
        {text, limit, fmt::format("{:.2f}", mean), verdict(mean <= most, all), missing_names(all)});
}

std::string mean_of_crowds(const Results& results, const Choice& choice) {
    return mean_row("4 and 8 ranks, geometric mean", 0.45,
                    evidence(results, choice, "peal",
                             [](const Point& p) { return p.nranks > 2 && !is_further(p.task); }));
}

std::string cold_rows(const Results& results, const Choice& choice) {
    const Rule rule{"cold, every point", "peal", 1.0,
                    [](const Point& p) { return !is_further(p.task); }};
    const Evidence all = evidence(results, choice, rule.contender, rule.applies, true);
    if (all.ratios.empty()) return "";
    return bound_row(rule, all) + mean_row("cold, geometric mean", 0.55, all);
}

// How much longer than usual a slow batch takes, beside the same of the best peer.
std::string tail_row(const Results& results, const Choice& choice) {
    const Rule rule{"99th percentile / median, 2 ranks, up to 64 KiB, ours / the best peer's",
                    "peal", 1.0,
                    [](const Point& p) { return p.nranks == 2 && p.bytes <= 64 * kKiB; }};
    Evidence all = evidence(results, choice, rule.contender, rule.applies);
    for (Ratio& ratio : all.ratios) {
        const Row* const ours = results.best_of(ratio.point, rule.contender);
        const Row* const peer = results.best_peer(ratio.point);
        ratio.value = ours->p99_us / ours->median_us / (peer->p99_us / peer->median_us);
    }
    return bound_row(rule, all);
}

std::string unaligned_row(const Results& results, const Choice& choice) {
    const Rule rule{"2 ranks, unaligned / aligned buffers, ours", "peal-unaligned", 1.25, {}};
    Evidence all;
    for (const Point& point : points_of(choice)) {
        const bool is_meant = point.nranks == 2 && !point.cold && point.bytes > 0 &&
                              !is_limit(point.task) && !is_further(point.task);
        if (!is_meant) continue;
        const Row* const row = results.best_of(point, rule.contender);
        const Row* const aligned = row ? results.best_in_state(point, "peal", row->state) : nullptr;
        if (aligned == nullptr) {
            all.missing.push_back(point);
        } else {
            all.ratios.push_back({point, row->median_us / aligned->median_us});
        }
    }
    return bound_row(rule, all);
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

std::string bounds_table(const Results& results, const Choice& choice) {
    std::string text = kHead + table_head({"case", "at most", "worst", "", "misses"});
    for (const Rule& rule : rules()) text += rule_row(results, choice, rule);
    text += mean_of_crowds(results, choice) + cold_rows(results, choice) +
            tail_row(results, choice) + unaligned_row(results, choice) + latency_row(results);
    for (const std::size_t bytes : {16 * kMiB, 64 * kMiB}) text += bandwidth_row(results, bytes);
    return text + "\n";
}

std::string hosts_bounds_table(const Results& results, const Choice& choice) {
    std::string text = kHead + table_head({"case", "at most", "worst", "", "misses"});
    for (const Rule& rule : hosts_rules(choice)) text += rule_row(results, choice, rule);
    return text + wire_row(results) + "\n";
}

std::string further_bounds_table(const Results& results, const Choice& choice) {
    std::string text = kHead + table_head({"case", "at most", "worst", "", "misses"});
    for (const Rule& rule : further_rules(choice)) text += rule_row(results, choice, rule);
    return text + "\n";
}

}  // namespace peal::bench
