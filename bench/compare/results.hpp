// SPDX-License-Identifier: Apache-2.0
// What was measured, and what of it counts.
#pragma once

#include <string>
#include <vector>

#include "placement.hpp"
#include "point.hpp"
#include "roster.hpp"

namespace peal::bench {

// The batches of one contender in one way at one point in one state.
struct Row {
    Point point;
    std::string contender;
    std::string family;
    Team team = Team::peers;
    std::string way;
    State state = State::near;
    bool counts = false;  // its state is the one that is compared at this point
    std::size_t batches = 0;
    double median_us = 0;
    double min_us = 0;
    double p90_us = 0;
    double p99_us = 0;
    double foreign_cores = 0;  // load of other programs while the point was measured
};

// Fills in the statistics. There is at least one batch.
Row summarise(Row row, std::vector<double> batches_ns);

// Of the rows of one point: marks those in the state in which most contenders were seen, near if
// there are as many far. What happened while the state changed never counts.
void mark_counting(std::vector<Row>& rows);

struct Trouble {
    Point point;
    std::string contender;
    std::string way;
    std::string what;
};

class Results {
public:
    void add(const std::vector<Row>& rows) { rows_.insert(rows_.end(), rows.begin(), rows.end()); }
    void add(Trouble trouble) { troubles_.push_back(std::move(trouble)); }

    const std::vector<Row>& rows() const { return rows_; }
    const std::vector<Trouble>& troubles() const { return troubles_; }

    // The best way of this contender, or of this family, or of all peers; null if nothing counts.
    const Row* best_of(const Point& point, const std::string& contender) const;
    const Row* best_of_family(const Point& point, const std::string& family) const;
    const Row* best_peer(const Point& point) const;
    // The shortest that 90 % of a peer's batches keep; 0 if nothing counts.
    double best_peer_p90_us(const Point& point) const;

    // In this state, whether it counts or not.
    const Row* best_in_state(const Point& point, const std::string& contender, State state) const;

private:
    template <class Wanted>
    const Row* best(const Point& point, Wanted wanted) const;
    std::vector<Row> rows_;
    std::vector<Trouble> troubles_;
};

std::string csv_header();
std::string csv_line(const Row& row);

}  // namespace peal::bench
