// SPDX-License-Identifier: Apache-2.0
// Who takes part, and how each is started.
#pragma once

#include <string>
#include <vector>

#include "point.hpp"

namespace peal::bench {

enum class Team { ours, peers, limits };

// One library in one configuration.
struct Entry {
    std::string name;
    std::string family;  // entries of one library have the same
    Team team = Team::peers;
    std::string program;  // its contender, without which it does not take part
    // What starts the ranks. With a launcher it is run once; without, once for each rank, followed
    // by the rank and the number of ranks.
    std::vector<std::string> launcher;
    std::vector<std::string> arguments;  // after the directory
    std::vector<std::string> hosts;      // as many ranks on each; none: this one

    bool has_launcher() const { return !launcher.empty(); }
};

// All entries whose programs are in `programs`; `peal` is the command that launches ours. `hosts`
// are machines of tools/with-hosts; without any all ranks are on this one.
std::vector<Entry> roster(const std::string& programs, const std::string& peal,
                          const std::vector<std::string>& hosts);

// The ways in which an entry does a task: more than one where it is not known which is best. Empty
// if it does not do it.
std::vector<std::string> ways(const Entry& entry, const Point& point);

// The command that starts the entry, or its rank if it has no launcher.
std::vector<std::string> command(const Entry& entry, const std::string& directory, int rank,
                                 int nranks);

}  // namespace peal::bench
