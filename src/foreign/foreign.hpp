// SPDX-License-Identifier: Apache-2.0
// Plans that other projects publish, as plans of ours. docs/foreign_plans.md says what is read and
// how it is understood.
//
// A thread block becomes a lane of its rank's plan. Whatever a runtime does between two thread
// blocks is written out: a connection of MSCCL is memory at the receiver and two counters, a
// channel of MSCCL++ a counter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/plan.hpp"
#include "peal/source.hpp"

namespace peal::foreign {

// What the files leave open.
struct ReadOptions {
    std::optional<std::uint64_t> count;  // of the collective; nothing: a few elements in each chunk
    std::optional<CollectiveKind> kind;  // what it is held to; nothing: what the file says
    Element element = Element::f32;
    ReduceOp op = ReduceOp::sum;
    int root = 0;           // of a broadcast
    int slots = 2;          // of a connection of MSCCL
    bool in_place = false;  // of a file that is for both; one that is for one form is read as that
};

struct ForeignPlans {
    std::vector<Plan> plans;  // of all ranks
    std::uint64_t count = 0;  // of the collective: elements per rank
    // What the file says that it computes; nothing if that is something of its own.
    std::optional<Collective> collective;
    Ports ports;
    // Buffers of which there are two, used in turn by one call after another.
    std::vector<std::uint16_t> alternating;
};

// What the plans are for, if the file says so: with the same order on all ranks, where operands may
// be exchanged.
std::optional<Meaning> meaning_of(const ForeignPlans& foreign);

// The collective that is called like this in the files; nothing for what is of their own.
std::optional<CollectiveKind> collective_called(std::string_view name);

// Whether a text is of one of the kinds that are read here. Plans of our own are not.
bool is_foreign(const std::string& path, std::string_view text);

// Throws ProgramError, at the line, for what is malformed, unknown, or known and not modelled; and
// Error(usage) for options that do not fit.
ForeignPlans read_plans(const SourcePtr& source, const ReadOptions& options);

}  // namespace peal::foreign
