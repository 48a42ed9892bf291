// SPDX-License-Identifier: Apache-2.0
// What the drivers have in common: their command line, and how they end.
//
//   driver -p a2a3sim -d 0-3 --timings --trace out.json
#pragma once

#include <span>
#include <string>
#include <vector>

#include "peal/worker.hpp"

namespace examples {

struct Options {
    std::string platform = "a2a3sim";
    std::vector<int> devices = {};  // 2..16 of them
    bool timings = false;           // print when each task was where
    std::string trace = {};         // a file to write the same to, for ui.perfetto.dev
};

// Reads the command line and runs the driver, which says whether the results are right. Returns the
// exit code: 0 if they are, 1 if not, 2 if the command line is wrong; nothing is started then.
int drive(int argc, char** argv, const std::string& description, bool (*driver)(const Options&));

peal::Worker start_worker(const Options& options);

// What --timings and --trace ask for. Call it when all tasks are done.
void report(const peal::Worker& worker, const Options& options);

// Whether all elements are within 1e-3 of golden; prints the largest difference.
bool matches(const std::string& what, std::span<const float> found, std::span<const float> golden);

}  // namespace examples
