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

// Which rails of which rows are in use.
class Grid {
public:
    struct Stretch {
        std::size_t first = 0, last = 0;
    };

    std::size_t first_free_row(std::size_t row, Stretch rails) const {
        while (!is_free(row, rails)) ++row;
        return row;
    }
    void use(std::size_t row, Stretch rails) {
        for (std::size_t rail = rails.first; rail <= rails.last; ++rail) used_.emplace(row, rail);
    }

private:
    bool is_free(std::size_t row, Stretch rails) const {
        const auto next = used_.lower_bound({row, rails.first});
        return next == used_.end() || *next > std::pair(row, rails.last);
    }
    std::set<std::pair<std::size_t, std::size_t>> used_;
};

// The rails that each event covers, with the arrows that leave it.
std::vector<Grid::Stretch> stretches(const Diagram& diagram) {
    std::vector<Grid::Stretch> list;
    for (const Event& event : diagram.events) list.push_back({event.rail, event.rail});
    for (const Arrow& arrow : diagram.arrows) {
        const std::size_t target = diagram.events[arrow.to].rail;
        list[arrow.from].first = std::min(list[arrow.from].first, target);
        list[arrow.from].last = std::max(list[arrow.from].last, target);
    }
    return list;
}

// The stretch that an arrow runs down.
struct Descent {
    std::size_t rail = 0;
    bool from_left = false;
    std::size_t top = 0, bottom = 0;  // rows

    bool meets(const Descent& other) const {
        return rail == other.rail && from_left == other.from_left && top <= other.bottom &&
               other.top <= bottom;
    }
};

Descent descent_of(const Arrow& arrow, const Diagram& diagram) {
    const Event& from = diagram.events[arrow.from];
    const Event& to = diagram.events[arrow.to];
    return {to.rail, from.rail < to.rail, from.row, to.row};
}

// Below all that the lanes of a rank have done so far.
std::size_t end_of_rank(const Diagram& diagram, const std::vector<std::size_t>& rail_end,
                        std::size_t of) {
    std::size_t end = 0;
    for (std::size_t rail = 0; rail < rail_end.size(); ++rail) {
        if (diagram.rails[rail].rank == diagram.rails[of].rank) end = std::max(end, rail_end[rail]);
    }
    return end;
}

}  // namespace

void place_rows(Diagram& diagram, const std::vector<std::vector<Access>>& accesses) {
    const std::vector<Grid::Stretch> rails = stretches(diagram);
    MemoryRows memory;
    Grid grid;
    std::vector<std::size_t> rail_end(diagram.rails.size(), 0);
    std::size_t clash_row = 0;  // below all that does not clash
    for (std::size_t i = 0; i < diagram.events.size(); ++i) {
        Event& event = diagram.events[i];
        const std::size_t earliest = event.clash ? clash_row : memory.earliest(accesses[i]);
        const std::size_t after = event.kind == EventKind::caller
                                      ? end_of_rank(diagram, rail_end, event.rail)
                                      : rail_end[event.rail];
        event.row = grid.first_free_row(std::max(earliest, after), rails[i]);
        grid.use(event.row, rails[i]);
        memory.use(accesses[i], event.row);
        rail_end[event.rail] = event.row + 1;
        if (event.kind == EventKind::caller) {
            for (std::size_t rail = 0; rail < rail_end.size(); ++rail) {
                if (diagram.rails[rail].rank != diagram.rails[event.rail].rank) continue;
                rail_end[rail] = std::max(rail_end[rail], event.row + 1);
            }
        }
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
