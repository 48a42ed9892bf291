// SPDX-License-Identifier: Apache-2.0
// The run: all contenders at once, each point in rounds in which everybody has a short turn.
//
// Before and after each turn the placement of the cores is looked at; a turn during which it
// changed does not count. After the first round, peers that are three times slower than the best
// peer sit out the rest of the point: they cannot become the best, and their figure is known.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results.hpp"

namespace peal::bench {

struct SeasonOptions {
    double budget_seconds = 780;  // for all points together, roughly
    int rounds = 5;
    bool pins_noise = false;  // one of the strangers keeps to the first core
    std::string directory;    // for the contenders' files
};

// `finished` is called with the rows of each point. Progress goes to stderr.
Results run_season(const std::vector<Entry>& entries, const std::vector<Point>& points,
                   const SeasonOptions& options,
                   const std::function<void(const std::vector<Row>&)>& finished);

}  // namespace peal::bench
