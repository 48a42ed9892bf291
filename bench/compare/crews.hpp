// SPDX-License-Identifier: Apache-2.0
// The crews of all contenders for one number of ranks. Each is started when it is first asked for,
// and again after trouble.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "crew.hpp"
#include "point.hpp"

namespace peal::bench {

class Crews {
public:
    Crews(int nranks, std::string directory) : nranks_(nranks), directory_(std::move(directory)) {}

    int nranks() const { return nranks_; }

    // Throws CrewTrouble if it does not start.
    Crew& crew_of(const Entry& entry);

    // After trouble: ends the crew. The same way of the same task is not tried again at this size
    // or a larger one, and a contender that does not even start is not tried again.
    void dismiss(const Entry& entry, const std::string& way, const Point& point);
    bool is_willing(const Entry& entry, const std::string& way, const Point& point) const;

private:
    int nranks_;
    std::string directory_;
    int started_ = 0;
    std::map<std::string, std::unique_ptr<Crew>> crews_;
    std::set<std::string> absent_;
    std::map<std::tuple<std::string, std::string, Task>, std::size_t> failed_at_;
};

}  // namespace peal::bench
