// SPDX-License-Identifier: Apache-2.0
#include "peal/plan.hpp"

#include <algorithm>
#include <tuple>

#include "plan/names.hpp"

namespace peal {
namespace {

constexpr std::array<std::string_view, plan::kBufferKinds.size()> kKindNames = {"argument",
                                                                                "window", "signal"};
constexpr std::array<std::string_view, plan::kMapOps.size()> kMapNames = {
    "fill", "add_scalar", "mul_scalar", "convert", "row_sum", "clobber"};
constexpr std::array<std::string_view, plan::kPipes.size()> kPipeNames = {
    "none", "S", "MTE2", "V", "MTE3", "M", "MTE1", "FIX", "ALL"};

auto identity(const Plan& plan) {
    return std::tie(plan.kernel, plan.rank, plan.nranks, plan.buffers, plan.tile_bytes,
                    plan.instructions, plan.lanes, plan.advance, plan.turns);
}

}  // namespace

std::string_view name(BufferKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }
std::string_view name(MapOp op) { return kMapNames[static_cast<std::size_t>(op)]; }
std::string_view name(Pipe pipe) { return kPipeNames[static_cast<std::size_t>(pipe)]; }

std::size_t Plan::lane_of(std::size_t instruction) const {
    return static_cast<std::size_t>(std::upper_bound(lanes.begin(), lanes.end(), instruction) -
                                    lanes.begin());
}

bool Plan::operator==(const Plan& other) const { return identity(*this) == identity(other); }

}  // namespace peal
