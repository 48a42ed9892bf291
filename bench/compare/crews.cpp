// SPDX-License-Identifier: Apache-2.0
#include "crews.hpp"

#include <fmt/format.h>

namespace peal::bench {

Crew& Crews::crew_of(const Entry& entry) {
    std::unique_ptr<Crew>& crew = crews_[entry.name];
    if (!crew) {
        const std::string directory = fmt::format("{}/{}", directory_, started_++ + 100 * nranks_);
        absent_.insert(entry.name);
        crew = std::make_unique<Crew>(entry, nranks_, directory);
        absent_.erase(entry.name);
    }
    return *crew;
}

void Crews::dismiss(const Entry& entry, const std::string& way, const Point& point) {
    crews_.erase(entry.name);
    failed_at_.insert({{entry.name, way, point.task}, point.bytes});
}

bool Crews::is_willing(const Entry& entry, const std::string& way, const Point& point) const {
    if (absent_.count(entry.name) != 0) return false;
    const auto failed = failed_at_.find({entry.name, way, point.task});
    return failed == failed_at_.end() || point.bytes < failed->second;
}

}  // namespace peal::bench
