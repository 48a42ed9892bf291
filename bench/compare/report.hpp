// SPDX-License-Identifier: Apache-2.0
// The results as text for people: Markdown and a picture.
#pragma once

#include <filesystem>
#include <string>

#include "results.hpp"

namespace peal::bench {

// Conditions, limits of the machine, the bounds with pass or miss, ratios and times.
std::string full_report(const Results& results, const Choice& choice);

// The same for what else programs call: scans, counts that differ, messages.
std::string further_report(const Results& results, const Choice& choice);

// Times over odd sizes, and where the time jumps.
std::string sweep_report(const Results& results, const Choice& choice);

// Beside busy processes: the bounds, ours and the best peer, and ours loaded over quiet.
std::string noise_report(const Results& results, const Choice& choice);

// Between hosts: conditions, limits of the network, the bounds, ratios and times.
std::string hosts_report(const Results& results, const Choice& choice);

// Time over size, a panel for each collective and number of ranks, as SVG.
std::string plot(const Results& results, const Choice& choice);

// The parts of full_report().
std::string conditions(const Results& results);
std::string limits_table(const Results& results, const Choice& choice);
std::string wire_table(const Results& results, const Choice& choice);
std::string bounds_table(const Results& results, const Choice& choice);
std::string hosts_bounds_table(const Results& results, const Choice& choice);
std::string further_bounds_table(const Results& results, const Choice& choice);
std::string ratio_tables(const Results& results, const Choice& choice);

// Replaces what stands between "<!-- SECTION begin -->" and "<!-- SECTION end -->" in the file.
// Throws std::runtime_error if the file does not have both.
void splice(const std::filesystem::path& file, const std::string& section, const std::string& text);

}  // namespace peal::bench
