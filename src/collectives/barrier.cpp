// SPDX-License-Identifier: Apache-2.0
// Barrier: nobody leaves before everybody has come.
#include "collectives/catalogue.hpp"

namespace peal::collectives::barrier {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

void mesh(const Site& at) {
    at.meet(1);
    at.advance(integer(1));
}

// In round k each rank hears from the rank 2^k before it, which has heard from 2^k ranks by then.
void dissemination(const Site& at) {
    const ExprPtr rounds = at.b.Bind("rounds", CeilLog2(nranks()));
    at.b.EmitFor("k", integer(0), rounds, [&](LoweringBuilder& loop, const ExprPtr& k) {
        const Site here = at.in(loop);
        const ExprPtr distance = loop.Bind("distance", PowerOfTwo(k));
        here.notify((rank() + distance) % nranks(), k + 1);
        here.wait((rank() + nranks() - distance) % nranks(), k + 1);
    });
    at.advance(rounds);
}

}  // namespace

std::vector<Entry> recipes() {
    return {
        {{"mesh", "1", "0", "-", "P-1", "-", Reuse::at_once}, mesh},
        {{"dissemination", "ceil(log2 P)", "0", "-", "ceil(log2 P)", "-", Reuse::at_once},
         dissemination},
    };
}

}  // namespace peal::collectives::barrier
