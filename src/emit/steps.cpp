// SPDX-License-Identifier: Apache-2.0
#include "emit/steps.hpp"

namespace peal::emit {
namespace {

template <class... Kinds>
bool has(const Steps& steps) {
    bool found = false;
    for_each_step(steps, [&](const Step& step) {
        found = found || (std::holds_alternative<Kinds>(step.what) || ...);
    });
    return found;
}

}  // namespace

bool works_on_tiles(const Step& step) {
    return std::holds_alternative<LoadTile>(step.what) ||
           std::holds_alternative<StoreTile>(step.what) ||
           std::holds_alternative<Compute>(step.what);
}
bool works_on_tiles(const Steps& steps) { return has<LoadTile, StoreTile, Compute>(steps); }
bool notifies(const Steps& steps) { return has<NotifyCell>(steps); }
bool syncs(const Steps& steps) { return has<NotifyCell, WaitForCell>(steps); }

}  // namespace peal::emit
