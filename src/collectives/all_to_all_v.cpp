// SPDX-License-Identifier: Apache-2.0
// All-to-all with a count per pair of ranks.
#include "collectives/all_to_all_v.hpp"

#include "collectives/catalogue.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

ExprPtr sum_below(const Site& at, const ExprPtr& end,
                  const std::function<ExprPtr(const ExprPtr& k)>& term) {
    const VarPtr k = at.b.FreshIndex("k");
    return fold(FoldOp::sum, k, integer(0), end, term(k));
}

// As all_to_all: push when the receiver has come, and say so.
//   1  I have come: my target may be written
//   2  my piece is in your target
void mesh(const Site& at) {
    const auto piece = [&](const Site& here, const ExprPtr& peer) {
        return Part{sent_before(here, rank(), peer), table_at(at.counts, {rank(), peer})};
    };
    at.notify_peers(1);
    at.stage(piece(at, rank()), received_before(at, rank(), rank()));
    at.b.EmitFor("i", integer(1), nranks(), [&](LoweringBuilder& loop, const ExprPtr& i) {
        const Site here = at.in(loop);
        const ExprPtr peer = loop.Bind("to", (rank() + i) % nranks());
        const Part mine = piece(here, peer);
        here.wait(peer, integer(1));
        loop.RemoteStore(loop.Load(at.input, mine.offset, mine.count), at.target, peer,
                         received_before(here, rank(), peer));
        here.notify(peer, integer(2));
    });
    at.wait_peers(2);
    at.unstage({integer(0), received_before(at, nranks(), rank())}, integer(0));
    at.advance(integer(2));
}

}  // namespace

ExprPtr sent_before(const Site& at, const ExprPtr& from, const ExprPtr& to) {
    return sum_below(at, to, [&](const ExprPtr& k) { return table_at(at.counts, {from, k}); });
}

ExprPtr received_before(const Site& at, const ExprPtr& from, const ExprPtr& to) {
    return sum_below(at, from, [&](const ExprPtr& k) { return table_at(at.counts, {k, to}); });
}

ExprPtr most_received(const Site& at) {
    const VarPtr to = at.b.FreshIndex("to");
    return fold(FoldOp::max, to, integer(0), nranks(), received_before(at, nranks(), to));
}

std::vector<Entry> all_to_all_v_recipes() {
    return {
        {{"mesh", "2", "2 (sent + received)", "the most that a rank receives", "2(P-1)", "-"},
         mesh},
    };
}

}  // namespace peal::collectives
