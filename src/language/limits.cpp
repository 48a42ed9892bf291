// SPDX-License-Identifier: Apache-2.0
#include "language/limits.hpp"

#include <algorithm>
#include <type_traits>

#include "ir/fields.hpp"

namespace peal::language {

int depth_of(const ir::ExprPtr& expr) {
    int below = 0;
    ir::dispatch(*expr, [&](const auto& node) {
        ir::for_each_field(node, [&](std::string_view, const auto& member) {
            if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(member)>, ir::Type>) {
                ir::for_each_child(
                    member, [&](const auto& child) { below = std::max(below, depth_of(child)); });
            }
        });
    });
    return below + 1;
}

}  // namespace peal::language
