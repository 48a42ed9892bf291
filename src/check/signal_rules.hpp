// SPDX-License-Identifier: Apache-2.0
// Findings about signals that both methods make, in the same words.
#pragma once

#include <functional>
#include <optional>

#include "check/finding.hpp"
#include "check/model.hpp"

namespace peal::checker {

bool fits_cell(const CellInfo& cell, std::int64_t value);
Finding overflow_finding(const Model& model, Event notify, std::int64_t value);
Finding stale_finding(const Model& model, Event wait, std::int64_t value);
// `again` sets a flag that may still be set by `before`.
Finding set_twice_finding(const Model& model, Event before, Event again);

// Nobody can go on: `next` are the agents' positions, `value` gives the value of a cell.
Finding blocked_finding(const Model& model, const std::vector<std::uint32_t>& next,
                        const std::function<std::int64_t(CellId)>& value);

// So many calls are over and the cell holds `value`, written last by `last`: nothing, or that the
// next call expects another value.
std::optional<Finding> end_finding(const Model& model, CellId cell, std::uint32_t calls,
                                   std::int64_t value, Event last);

}  // namespace peal::checker
