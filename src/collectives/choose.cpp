// SPDX-License-Identifier: Apache-2.0
#include "collectives/choose.hpp"
#include "peal/limits.hpp"

#include <algorithm>

namespace peal::collectives {

std::span<const Rule> rules_of_auto(CollectiveKind kind) {
    const std::span<const Rule> all = rules();
    const auto is_one = [kind](const Rule& rule) {
        return rule.kind == kind && rule.where == Where::target;
    };
    const auto first = std::find_if(all.begin(), all.end(), is_one);
    return {first, std::find_if_not(first, all.end(), is_one)};
}

ExprPtr condition_of(const Rule& rule, const Site& at) {
    const auto limit = [](const ExprPtr& value, std::uint64_t max) {
        return ir::binary(ir::BinaryOp::le, value, ir::integer(static_cast<std::int64_t>(max)));
    };
    const ExprPtr few = limit(ir::nranks(), static_cast<std::uint64_t>(rule.max_ranks));
    if (!at.count || rule.max_bytes == Rule::kAny) return few;
    const auto element_bytes = static_cast<std::int64_t>(bytes_of(ir::type_of(*at.target).element));
    const ExprPtr small = limit(at.count * element_bytes, rule.max_bytes);
    return rule.max_ranks == kMaxRanks ? small : ir::And(small, few);
}

}  // namespace peal::collectives

namespace peal {

std::string_view choose_recipe(CollectiveKind kind, std::uint64_t bytes, int nranks) {
    using namespace collectives;
    const auto list = fitting(rules_of_auto(kind), kind, Where::target, bytes, nranks);
    return list.empty() ? rules_of_auto(kind).back().recipe : list.front()->recipe;
}

}  // namespace peal
