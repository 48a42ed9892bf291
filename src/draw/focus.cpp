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
    std::vector<bool> clashes(diagram.lanes.size(), false);
    for (const Event& event : diagram.events)
        clashes[event.lane] = clashes[event.lane] || event.clash;

    Diagram less = diagram;
    less.lanes.clear();
    less.events.clear();
    less.arrows.clear();
    std::vector<std::size_t> new_lane(diagram.lanes.size(), kDropped);
    for (std::size_t lane = 0; lane < clashes.size(); ++lane) {
        if (clashes[lane]) new_lane[lane] = less.lanes.size();
        (clashes[lane] ? less.lanes : less.hidden).push_back(diagram.lanes[lane]);
    }
    std::vector<std::size_t> new_event(diagram.events.size(), kDropped);
    for (std::size_t i = 0; i < diagram.events.size(); ++i) {
        if (!clashes[diagram.events[i].lane]) continue;
        new_event[i] = less.events.size();
        less.events.push_back(diagram.events[i]);
        less.events.back().lane = new_lane[diagram.events[i].lane];
    }
    for (const Arrow& arrow : diagram.arrows) {
        const std::size_t from = new_event[arrow.from], to = new_event[arrow.to];
        if (to == kDropped) continue;
        if (from != kDropped) {
            less.arrows.push_back({from, to});
        } else {
            const std::int32_t rank = diagram.lanes[diagram.events[arrow.from].lane];
            less.events[to].label += fmt::format(" (rank {})", rank);
        }
    }
    close_rows(less);
    return less;
}

}  // namespace peal::draw
