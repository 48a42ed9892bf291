// SPDX-License-Identifier: Apache-2.0
#include "draw/channels.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace peal::draw {
namespace {

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
