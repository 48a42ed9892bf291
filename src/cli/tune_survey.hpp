// SPDX-License-Identifier: Apache-2.0
// Which recipes `peal tune` measures, for which sizes, and how it goes through them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/cross_over.hpp"
#include "cli/measure.hpp"

namespace peal::cli {

// How thoroughly.
struct Effort {
    std::vector<std::uint64_t> input_bytes;
    std::vector<std::uint64_t> stage_bytes;
    double seconds = 0;  // for each measurement
    int rounds = 0;      // over all candidates; the best one counts, so a disturbance does not
};
Effort thorough_effort();
Effort quick_effort();

// The ranks that measure.
struct Ground {
    int nranks = 0;
    std::vector<comm::Where> places;  // the memory that rules are wanted for
    // Where communicators go by this table.
    std::function<std::vector<Timing>(const comm::Table& table, const std::vector<Load>& loads,
                                      const MeasureOptions& options)>
        measure;
    std::function<void(const std::string& progress)> tell;
};

// The loads that stand for all sizes of everything that a profile must have rules for.
std::vector<Load> loads_on(const Ground& ground, const Effort& effort);

// All of it, measured.
std::vector<Survey> survey(const Ground& ground, const Effort& effort);

}  // namespace peal::cli
