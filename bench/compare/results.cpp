// SPDX-License-Identifier: Apache-2.0
#include "results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <set>

namespace peal::bench {
namespace {

double quantile(const std::vector<double>& sorted, double share) {
    const auto index =
        static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())) - 1);
    return sorted[std::min(index, sorted.size() - 1)];
}

std::size_t seen_in(const std::vector<Row>& rows, State state) {
    std::set<std::string> contenders;
    for (const Row& row : rows) {
        if (row.state == state) contenders.insert(row.contender + row.way);
    }
    return contenders.size();
}

}  // namespace

Row summarise(Row row, std::vector<double> batches_ns) {
    assert(!batches_ns.empty());
    std::sort(batches_ns.begin(), batches_ns.end());
    row.batches = batches_ns.size();
    row.median_us = quantile(batches_ns, 0.5) / 1e3;
    row.min_us = batches_ns.front() / 1e3;
    row.p90_us = quantile(batches_ns, 0.9) / 1e3;
    row.p99_us = quantile(batches_ns, 0.99) / 1e3;
    return row;
}

void mark_counting(std::vector<Row>& rows) {
    const State common =
        seen_in(rows, State::near) >= seen_in(rows, State::far) ? State::near : State::far;
    for (Row& row : rows) row.counts = row.state == common;
}

template <class Wanted>
const Row* Results::best(const Point& point, Wanted wanted) const {
    const Row* best = nullptr;
    for (const Row& row : rows_) {
        if (row.point != point || !wanted(row)) continue;
        if (best == nullptr || row.median_us < best->median_us) best = &row;
    }
    return best;
}

const Row* Results::best_of(const Point& point, const std::string& contender) const {
    return best(point, [&](const Row& row) { return row.counts && row.contender == contender; });
}

const Row* Results::best_of_family(const Point& point, const std::string& family) const {
    return best(point, [&](const Row& row) { return row.counts && row.family == family; });
}

const Row* Results::best_peer(const Point& point) const {
    return best(point, [](const Row& row) { return row.counts && row.team == Team::peers; });
}

double Results::best_peer_p90_us(const Point& point) const {
    double best = 0;
    for (const Row& row : rows_) {
        if (row.point != point || !row.counts || row.team != Team::peers) continue;
        if (best == 0 || row.p90_us < best) best = row.p90_us;
    }
    return best;
}

const Row* Results::best_in_state(const Point& point, const std::string& contender,
                                  State state) const {
    return best(point,
                [&](const Row& row) { return row.state == state && row.contender == contender; });
}

std::string csv_header() {
    return "ranks,collective,bytes,buffers,busy,contender,way,state,counts,batches,median_us,min_"
           "us,"
           "p90_us,p99_us,foreign_cores\n";
}

std::string csv_line(const Row& row) {
    return fmt::format("{},{},{},{},{},{},{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.2f}\n",
                       row.point.nranks, name(row.point.task), row.point.bytes,
                       row.point.cold ? "cold" : "warm", row.point.noise, row.contender, row.way,
                       name(row.state), row.counts ? "yes" : "no", row.batches, row.median_us,
                       row.min_us, row.p90_us, row.p99_us, row.foreign_cores);
}

}  // namespace peal::bench
