// SPDX-License-Identifier: Apache-2.0
#include "collectives/ring.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: reads like the IR it makes

Way forward_way() {
    const auto behind = [](const ExprPtr& steps) {
        return (rank() + nranks() * 2 - steps) % nranks();
    };
    return {(rank() + nranks() - 1) % nranks(), (rank() + 1) % nranks(), behind};
}

Way backward_way() {
    const auto behind = [](const ExprPtr& steps) { return (rank() + steps) % nranks(); };
    return {(rank() + 1) % nranks(), (rank() + nranks() - 1) % nranks(), behind};
}

void ring_steps(const Site& at, const std::vector<Way>& ways, const ExprPtr& first_phase,
                const std::function<void(const Site& here, const ExprPtr& s)>& step) {
    at.b.EmitFor("s", integer(0), nranks() - 1, [&](LoweringBuilder& loop, const ExprPtr& s) {
        const Site here = at.in(loop);
        for (const Way& way : ways) here.notify(way.to, first_phase + s);
        for (const Way& way : ways) here.wait(way.from, first_phase + s);
        step(here, s);
    });
}

void ring_close(const Site& at, const std::vector<Way>& ways, const ExprPtr& phase,
                const std::function<void()>& between) {
    for (const Way& way : ways) at.notify(way.from, phase);
    between();
    for (const Way& way : ways) at.wait(way.to, phase);
}

}  // namespace peal::collectives
