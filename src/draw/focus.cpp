// SPDX-License-Identifier: Apache-2.0
#include "draw/layout.hpp"

#include <map>

#include <fmt/format.h>

namespace peal::draw {
namespace {

constexpr std::size_t kDropped = static_cast<std::size_t>(-1);

}  // namespace

void close_rows(Diagram& diagram) {
    std::map<std::size_t, std::size_t> new_row;
    for (const Event& event : diagram.events) new_row[event.row] = 0;
    diagram.rows = 0;
    for (auto& entry : new_row) entry.second = diagram.rows++;
    for (Event& event : diagram.events) event.row = new_row[event.row];
}

Diagram focus_on_clash(const Diagram& diagram) {
    std::vector<bool> clashes(diagram.rails.size(), false);
    for (const Event& event : diagram.events)
        clashes[event.rail] = clashes[event.rail] || event.clash;

    Diagram less = diagram;
    less.rails.clear();
    less.events.clear();
    less.arrows.clear();
    std::vector<std::size_t> new_rail(diagram.rails.size(), kDropped);
    for (std::size_t rail = 0; rail < clashes.size(); ++rail) {
        if (clashes[rail]) new_rail[rail] = less.rails.size();
        (clashes[rail] ? less.rails : less.hidden).push_back(diagram.rails[rail]);
    }
    std::vector<std::size_t> new_event(diagram.events.size(), kDropped);
    for (std::size_t i = 0; i < diagram.events.size(); ++i) {
        if (!clashes[diagram.events[i].rail]) continue;
        new_event[i] = less.events.size();
        less.events.push_back(diagram.events[i]);
        less.events.back().rail = new_rail[diagram.events[i].rail];
    }
    for (const Arrow& arrow : diagram.arrows) {
        const std::size_t from = new_event[arrow.from], to = new_event[arrow.to];
        if (to == kDropped) continue;
        if (from != kDropped) {
            less.arrows.push_back({from, to});
        } else {
            const Rail& rail = diagram.rails[diagram.events[arrow.from].rail];
            less.events[to].label += fmt::format(" ({})", rails_text({rail}));
        }
    }
    close_rows(less);
    return less;
}

}  // namespace peal::draw
