// SPDX-License-Identifier: Apache-2.0
#include "draw/layout.hpp"

#include <algorithm>
#include <map>
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

}  // namespace peal::draw
