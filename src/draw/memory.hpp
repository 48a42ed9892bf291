// SPDX-License-Identifier: Apache-2.0
// Which memory a step touches, by the name that all stages know it by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peal/check.hpp"

namespace peal::draw {

struct Access {
    std::int32_t rank = 0;
    std::string memory;  // "data"; a cell of a signal by its byte: "sig+64"
    bool writes = false;
};

// Null for what the caller does.
const Instruction* instruction_of(const Step& step, const std::vector<CheckStage>& stages);

std::string memory_of(const CheckStage& stage, std::size_t buffer);
std::string memory_of(const CheckStage& stage, const Cell& cell);

// The caller may touch all data of its rank. Buffers count as a whole. Tiles are left out: only
// their own rank sees them.
std::vector<Access> accesses_of(const Step& step, const std::vector<CheckStage>& stages);

}  // namespace peal::draw
