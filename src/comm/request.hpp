// SPDX-License-Identifier: Apache-2.0
// A call on its way: what was asked for, bound to this rank's buffers, and where it stands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "comm/call_place.hpp"
#include "comm/routine.hpp"
#include "comm/shape.hpp"
#include "engine/core.hpp"
#include "peal/communicator_calls.hpp"

namespace peal::comm {

// Symmetric memory outside the group's own: a window of the user's.
struct Symmetric {
    std::byte* base = nullptr;  // of rank 0's part
    std::uint64_t rank_stride = 0;
    std::uint64_t number = 0;  // which of its communicator's windows; see windows_word()
};

// A routine, which it keeps, and this rank's buffers in the order of its plan.
struct Request {
    RoutinePtr routine;
    Stamp stamp;
    std::uint32_t site = 0;  // where the call was made: Sites::number_of()
    std::array<std::byte*, 2> arguments{};
    Symmetric window;
};

// Whether private memory can be the buffer of a call that needs so many elements. Throws
// Error(usage) that begins with `what`.
void require_fit(std::string_view what, const ConstMemory& found, std::uint64_t expected);

// Whose ring a wait of a routine's lacks: each cell of its signal has one writer.
inline int ringer_of(const engine::Op& wait) {
    return static_cast<int>(wait.dst.offset / kCacheLineBytes);
}

// A kernel's plan for any rank of the communicator, in the group's ranks. Empty: not known.
using PlanOf = std::function<Plan(int rank)>;

// A kernel's plan, ready to run, with everything bound but the tile memory.
struct KernelRequest {
    const engine::Tape* tape = nullptr;
    std::vector<engine::BoundBuffer> memory;
    Stamp stamp;
    std::uint32_t site = 0;
    const PlanOf* plan_of = nullptr;
};

// The call that a rank is in. Progress keeps it up to date; Diagnosis tells of it.
struct CallAtHand {
    enum class Phase : std::uint8_t { idle, meeting, carrying, kernel };

    Phase phase = Phase::idle;
    Stamp stamp;
    std::uint32_t site = 0;
    CallPlace place;
    // The request's, or that of the meeting before it; none while it has not been entered.
    const Routine* routine = nullptr;
    const PlanOf* plan_of = nullptr;  // the kernel's
    engine::Core core;
};

}  // namespace peal::comm
