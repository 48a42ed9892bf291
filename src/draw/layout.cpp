// SPDX-License-Identifier: Apache-2.0
#include "draw/layout.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

namespace peal::draw {
namespace {

// For each memory, the rows from which on it may be read and written.
class MemoryRows {
public:
    std::size_t earliest(const std::vector<Access>& accesses) {
        std::size_t row = 0;
        for (const Access& access : accesses) {
            const Rows& rows = rows_[{access.rank, access.memory}];
            row = std::max(row, access.writes ? rows.writable : rows.readable);
        }
        return row;
    }
    void use(const std::vector<Access>& accesses, std::size_t row) {
        for (const Access& access : accesses) {
            Rows& rows = rows_[{access.rank, access.memory}];
            rows.writable = std::max(rows.writable, row + 1);
            if (access.writes) rows.readable = row + 1;
        }
    }

private:
    struct Rows {
        std::size_t readable = 0, writable = 0;
    };
    std::map<std::pair<std::int32_t, std::string>, Rows> rows_;
};

// Which lanes of which rows are in use.
class Grid {
public:
    struct Stretch {
        std::size_t first = 0, last = 0;
    };

    std::size_t first_free_row(std::size_t row, Stretch lanes) const {
        while (!is_free(row, lanes)) ++row;
        return row;
    }
    void use(std::size_t row, Stretch lanes) {
        for (std::size_t lane = lanes.first; lane <= lanes.last; ++lane) used_.emplace(row, lane);
    }

private:
    bool is_free(std::size_t row, Stretch lanes) const {
        const auto next = used_.lower_bound({row, lanes.first});
        return next == used_.end() || *next > std::pair(row, lanes.last);
    }
    std::set<std::pair<std::size_t, std::size_t>> used_;
};

// The lanes that each event covers, with the arrows that leave it.
std::vector<Grid::Stretch> stretches(const Diagram& diagram) {
    std::vector<Grid::Stretch> list;
    for (const Event& event : diagram.events) list.push_back({event.lane, event.lane});
    for (const Arrow& arrow : diagram.arrows) {
        const std::size_t target = diagram.events[arrow.to].lane;
        list[arrow.from].first = std::min(list[arrow.from].first, target);
        list[arrow.from].last = std::max(list[arrow.from].last, target);
    }
    return list;
}

// The stretch that an arrow runs down.
struct Descent {
    std::size_t lane = 0;
    bool from_left = false;
    std::size_t top = 0, bottom = 0;  // rows

    bool meets(const Descent& other) const {
        return lane == other.lane && from_left == other.from_left && top <= other.bottom &&
               other.top <= bottom;
    }
};

Descent descent_of(const Arrow& arrow, const Diagram& diagram) {
    const Event& from = diagram.events[arrow.from];
    const Event& to = diagram.events[arrow.to];
    return {to.lane, from.lane < to.lane, from.row, to.row};
}

}  // namespace

void place_rows(Diagram& diagram, const std::vector<std::vector<Access>>& accesses) {
    const std::vector<Grid::Stretch> lanes = stretches(diagram);
    MemoryRows memory;
    Grid grid;
    std::vector<std::size_t> lane_end(diagram.lanes.size(), 0);
    std::size_t clash_row = 0;  // below all that does not clash
    for (std::size_t i = 0; i < diagram.events.size(); ++i) {
        Event& event = diagram.events[i];
        const std::size_t earliest = event.clash ? clash_row : memory.earliest(accesses[i]);
        event.row = grid.first_free_row(std::max(earliest, lane_end[event.lane]), lanes[i]);
        grid.use(event.row, lanes[i]);
        memory.use(accesses[i], event.row);
        lane_end[event.lane] = event.row + 1;
        if (!event.clash) clash_row = std::max(clash_row, event.row + 1);
        diagram.rows = std::max(diagram.rows, event.row + 1);
    }
}

std::vector<std::size_t> arrow_channels(const Diagram& diagram) {
    std::vector<Descent> descents;
    for (const Arrow& arrow : diagram.arrows) descents.push_back(descent_of(arrow, diagram));
    std::vector<std::size_t> order(descents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto length = [&](std::size_t i) { return descents[i].bottom - descents[i].top; };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return length(a) < length(b); });

    std::vector<std::size_t> channels(descents.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::set<std::size_t> taken;
        for (std::size_t j = 0; j < i; ++j) {
            if (descents[order[i]].meets(descents[order[j]])) taken.insert(channels[order[j]]);
        }
        while (taken.contains(channels[order[i]])) ++channels[order[i]];
    }
    return channels;
}

}  // namespace peal::draw
