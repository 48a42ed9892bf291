// SPDX-License-Identifier: Apache-2.0
#include "draw/diagram.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "draw/layout.hpp"

namespace peal::draw {
namespace {

constexpr std::size_t kFew = 32;  // events that are drawn as they are

std::size_t steps_of(const Diagram& diagram, const Rail& rail) {
    return static_cast<std::size_t>(
        std::count_if(diagram.events.begin(), diagram.events.end(), [&](const Event& event) {
            return diagram.rails[event.rail] == rail && event.kind != EventKind::call;
        }));
}

// In the place of the last of them.
Event several(const Event& last, std::size_t steps) {
    Event event;
    event.kind = EventKind::folded;
    event.rail = last.rail;
    event.row = last.row;
    event.label = fmt::format("{} steps", steps);
    return event;
}

// Puts runs of steps that do not matter together, rail by rail.
class Folder {
public:
    explicit Folder(const Diagram& diagram) : diagram_(diagram), matters_(diagram.events.size()) {
        for (std::size_t i = 0; i < matters_.size(); ++i) {
            const Event& event = diagram.events[i];
            matters_[i] = event.clash || event.related || event.kind == EventKind::call;
        }
        for (const Arrow& arrow : diagram.arrows) {
            matters_[arrow.from] = matters_[arrow.to] = true;
        }
    }

    Diagram fold() && {
        Diagram less = diagram_;
        less.events.clear();
        std::vector<std::size_t> run(diagram_.rails.size(), 0);  // of steps that are put together
        std::vector<std::size_t> new_event(diagram_.events.size());
        const std::vector<std::size_t> next = next_in_rail();
        for (std::size_t i = 0; i < diagram_.events.size(); ++i) {
            Event event = diagram_.events[i];
            const bool ends = next[i] == kLast || matters_[next[i]];
            if (!matters_[i] && (++run[event.rail] > 1 || !ends)) {
                if (!ends) continue;
                event = several(event, run[event.rail]);
            }
            if (ends || matters_[i]) run[event.rail] = 0;
            new_event[i] = less.events.size();
            less.events.push_back(std::move(event));
        }
        for (Arrow& arrow : less.arrows) {
            arrow = {new_event[arrow.from], new_event[arrow.to]};
        }
        close_rows(less);
        return less;
    }

private:
    static constexpr std::size_t kLast = static_cast<std::size_t>(-1);

    std::vector<std::size_t> next_in_rail() const {
        std::vector<std::size_t> next(diagram_.events.size(), kLast);
        std::vector<std::size_t> later(diagram_.rails.size(), kLast);
        for (std::size_t i = diagram_.events.size(); i-- > 0;) {
            next[i] = later[diagram_.events[i].rail];
            later[diagram_.events[i].rail] = i;
        }
        return next;
    }

    const Diagram& diagram_;
    std::vector<bool> matters_;
};

}  // namespace

Diagram folded(const Diagram& diagram) {
    if (diagram.events.size() <= kFew) return diagram;
    Diagram less = focus_on_clash(diagram);
    for (const Rail& rail : less.hidden) {
        less.meanwhile.push_back({rail, steps_of(diagram, rail)});
    }
    less.hidden.clear();
    return Folder(less).fold();
}

}  // namespace peal::draw
