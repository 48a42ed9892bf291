// SPDX-License-Identifier: Apache-2.0
#include "collectives/choose.hpp"

#include <array>
#include <vector>

namespace peal::collectives {
namespace {

// Few ranks or little data: one phase, every rank reads every other. More: each rank combines or
// carries a part. Many ranks: signals to neighbours only, so that their number stays linear.
const std::array<std::vector<Choice>, kCollectives.size()>& table() {
    static const std::array<std::vector<Choice>, kCollectives.size()> rows = {{
        /* allreduce      */ {{kAny, 2, "mesh"},
                              {16 << 10, 16, "mesh"},
                              {kAny, 16, "two_phase"},
                              {256 << 10, kAny, "halving_doubling"},
                              {kAny, kAny, "ring"}},
        /* reduce_scatter */ {{kAny, 16, "mesh"}, {kAny, kAny, "ring"}},
        /* allgather      */ {{kAny, 16, "mesh"}, {kAny, kAny, "ring"}},
        /* broadcast      */
        {{kAny, 2, "mesh"},
         {16 << 10, 8, "mesh"},
         {16 << 10, kAny, "tree"},
         {kAny, kAny, "scatter_allgather"}},
        /* all_to_all     */ {{64 << 10, kAny, "mesh"}, {kAny, kAny, "pairwise"}},
        /* all_to_all_v   */ {{kAny, kAny, "mesh"}},
        /* reduce         */ {{kAny, kAny, "mesh"}},
        /* gather         */ {{kAny, kAny, "mesh"}},
        /* scatter        */ {{kAny, kAny, "mesh"}},
        /* barrier        */ {{kAny, 8, "mesh"}, {kAny, kAny, "dissemination"}},
    }};
    return rows;
}

}  // namespace

std::span<const Choice> choices(CollectiveKind kind) {
    return table()[static_cast<std::size_t>(kind)];
}

ExprPtr condition_of(const Choice& choice, const Site& at) {
    const auto limit = [](const ExprPtr& value, std::int64_t max) {
        return ir::binary(ir::BinaryOp::le, value, ir::integer(max));
    };
    const ExprPtr few = limit(ir::nranks(), choice.max_ranks);
    if (!at.count || choice.max_bytes == kAny) return few;
    const auto element_bytes = static_cast<std::int64_t>(bytes_of(ir::type_of(*at.target).element));
    const ExprPtr small = limit(at.count * element_bytes, choice.max_bytes);
    return choice.max_ranks == kAny ? small : ir::And(small, few);
}

}  // namespace peal::collectives

namespace peal {

std::string_view choose_mode(CollectiveKind kind, std::uint64_t bytes, int nranks) {
    const auto list = collectives::choices(kind);
    for (const collectives::Choice& choice : list) {
        if (bytes <= static_cast<std::uint64_t>(choice.max_bytes) && nranks <= choice.max_ranks) {
            return choice.mode;
        }
    }
    return list.back().mode;
}

}  // namespace peal
