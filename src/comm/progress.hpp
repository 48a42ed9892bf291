// SPDX-License-Identifier: Apache-2.0
// Progress: one rank carries out its calls, one at a time, in the order in which they are made.
//
// A call takes a turn (src/comm/turns.hpp), notes in its log what it is, has its plan bound to
// memory and is driven through it. When it has to wait it can be left and come back to, so calls
// may be started and waited for later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "comm/call_memory.hpp"
#include "comm/diagnosis.hpp"
#include "comm/far_memory.hpp"
#include "comm/peer_memory.hpp"
#include "comm/request.hpp"
#include "comm/routine.hpp"
#include "comm/settings.hpp"
#include "comm/under_way.hpp"

namespace peal::comm {

class Progress {
public:
    Progress(const Members& members, Routines& routines, UnderWay& under_way);

    // The request must stay where it is until it is done.
    void begin(const Request& request);
    // The request at hand is there from now on.
    void moved(const Request& request) { request_ = &request; }
    // Goes as far as it can; true when the request is done. Never waits.
    bool go_on();
    // The same, for a rank that does so again and again instead of waiting: it asks what a rank
    // that waits asks. The time that it waits counts from the first time that it found the call
    // where it still stands.
    bool poll();
    // Returns when the request is done.
    void finish();
    void run(const Request& request);

    // Everybody comes, for a reason that must be the same everywhere.
    void meet(const Stamp& reason, std::uint32_t site);
    // Runs a kernel on which all have agreed. Nobody waits for anybody but as the kernel says.
    void run(const KernelRequest& request);
    // The same as a turn of its own, so that it is known to all who was in it.
    void run_in_turn(const KernelRequest& request);

    // The routine, or where it reaches and that is known not to work, the one that is taken
    // instead.
    [[gnu::always_inline]] const Routine& usable(const Routine& wanted) {
        if (!memory_.is_out_of_reach(wanted)) [[likely]]
            return wanted;
        return substitute_for(wanted);
    }

    // This rank makes no further call.
    void leave() const { diagnosis_.leave(); }

    const Diagnosis& diagnosis() const { return diagnosis_; }
    const CallAtHand& call() const { return call_; }

private:
    using Phase = CallAtHand::Phase;
    struct KernelSupplier;
    struct CallSupplier;
    template <class Near>
    struct FarSupplier;
    struct FarKernelSupplier;
    struct FarCallSupplier;

    // A short call is little else than its way to the engine. So all that every call comes by is
    // one piece of code: `always_inline` here and below, since the linker may keep a copy of an
    // inline function that comes from a file which is not compiled for speed. What few calls need
    // is cold, or it would cost all of them some registers.
    [[gnu::always_inline]] inline void announce(const Stamp& stamp, std::uint32_t site);
    [[gnu::always_inline]] inline void begin_here(const Request& request);
    [[gnu::always_inline]] inline void enter_turn();
    [[gnu::always_inline]] inline void enter(const Routine& routine, const Request& request);
    [[gnu::cold]] void proceed();
    [[gnu::cold]] void enter_meeting(const Request& request);
    [[gnu::cold]] const Routine& substitute_for(const Routine& wanted);
    [[gnu::always_inline]] void reserve_tiles(std::uint64_t bytes) {
        if (!memory_.reserve_tiles(bytes)) [[unlikely]]
            fail_for_tiles(bytes);
    }
    [[noreturn]] void fail_for_tiles(std::uint64_t bytes);
    // What a rank does that cannot go on.
    enum class Manner : std::uint8_t { leaves, polls, waits };
    [[gnu::always_inline]] inline bool carry_on(Manner manner);
    bool carry_on_begun(Manner manner);
    void note_begin() {
        if (logs_) [[unlikely]]
            began_ = Clock::now();
    }
    void note_end() const {
        if (logs_) [[unlikely]]
            log_call();
    }
    [[gnu::cold]] void log_call() const;
    bool stands();
    void wait_for_ring();
    void wait_longer();
    [[gnu::always_inline]] inline engine::Driven drive_call(Manner manner);
    [[gnu::cold]] engine::Driven drive_far_call(Manner manner);
    void drive_kernel();
    bool has_come();
    template <class IsOver>
    void wait_for_far(IsOver&& is_over);
    void end_far();
    void carry_on_others();
    int partner() const;
    bool looks_again() const;

    const Members& members_;
    Routines& routines_;
    RoutinePtr substitute_;     // of a routine that cannot be used
    const RoutinePtr meeting_;  // the barrier in which the ranks meet

    UnderWay& under_way_;
    CallAtHand call_;
    const Request* request_ = nullptr;
    // Stands for this call and all before it. Rings carry it, so that ranks whose calls differ
    // notice also when nobody waited in those: a root does not wait.
    CallHash call_hash_ = 0;

    // Where poll() found the call, since when, and when it looks around.
    struct {
        std::uint64_t turn = 0;
        std::size_t instruction = 0;
        Clock::time_point since = shm::kNoDeadline, next_look = shm::kNoDeadline;
    } stand_;

    const bool logs_ = logs_calls();
    Clock::time_point began_{};  // the call at hand, if calls are logged

    PeerMemory peers_;
    std::optional<FarMemory> far_;  // where the members are on several hosts
    CallMemory memory_;
    Diagnosis diagnosis_;
};

}  // namespace peal::comm
