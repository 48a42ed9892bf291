// SPDX-License-Identifier: Apache-2.0
// What the signal cells of all ranks hold along a schedule.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "peal/check.hpp"

namespace peal::draw {

class Signals {
public:
    explicit Signals(const std::vector<CheckStage>& stages) : stages_(stages) {}

    // Of a signal buffer of the step's plan, in the step's call.
    std::int64_t generation(const Step& step, std::uint16_t buffer) const;

    void carry_out(const Step& step, const Notify& notify);
    std::int64_t seen(const Step& step, const Cell& cell) const;

private:
    std::pair<std::int32_t, std::string> place(const Step& step, const Cell& cell) const;

    const std::vector<CheckStage>& stages_;
    std::map<std::pair<std::int32_t, std::string>, std::int64_t> cells_;
};

}  // namespace peal::draw
