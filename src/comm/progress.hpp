// SPDX-License-Identifier: Apache-2.0
// Progress: one rank carries out its calls, one at a time, in the order in which they are made.
//
// A call takes a turn (src/comm/turns.hpp), notes in its log what it is, has its plan bound to
// memory and is driven through it. When it has to wait it can be left and come back to, so calls
// may be started and waited for later.
#pragma once

#include <cstdint>
#include <memory>

#include "comm/call_memory.hpp"
#include "comm/diagnosis.hpp"
#include "comm/peer_memory.hpp"
#include "comm/request.hpp"
#include "comm/routine.hpp"

namespace peal::comm {

class Progress {
public:
    // `meeting` is the barrier that the ranks meet in.
    Progress(const Members& members, Routines& routines, std::unique_ptr<const Routine> meeting);

    // The request must stay where it is until it is done.
    void begin(const Request& request);
    // Goes as far as it can; true when the request is done. Never waits.
    bool go_on() { return carry_on(false); }
    // Returns when the request is done.
    void finish() { carry_on(true); }
    void run(const Request& request) {
        begin(request);
        finish();
    }

    // Everybody comes, for a reason that must be the same everywhere.
    void meet(Stamp reason);
    // Runs a kernel on which all have agreed. Nobody waits for anybody but as the kernel says.
    void run(const KernelRequest& request);
    // The same as a turn of its own, so that it is known to all who was in it.
    void run_in_turn(const KernelRequest& request);

    // This rank makes no further call.
    void leave() const { diagnosis_.leave(memory_.next_turn()); }

    Diagnosis& diagnosis() { return diagnosis_; }

private:
    using Phase = CallAtHand::Phase;
    struct KernelSupplier;
    struct CallSupplier;

    void announce(Stamp stamp);
    void proceed();
    const Routine& usable(const Routine& wanted);
    void enter_turn(Stamp stamp);
    void enter(const Routine& routine, const Request& request, Stamp stamp);
    void reserve_tiles(std::uint64_t bytes) {
        if (!memory_.reserve_tiles(bytes)) [[unlikely]]
            fail_for_tiles(bytes);
    }
    [[noreturn]] void fail_for_tiles(std::uint64_t bytes);
    bool carry_on(bool may_wait);
    void wait_for_ring();
    void wait_longer();
    bool looks_again() const;

    const Members& members_;
    Routines& routines_;
    RoutinePtr substitute_;  // of a routine that cannot be used
    std::unique_ptr<const Routine> meeting_;

    CallAtHand call_;
    const Request* request_ = nullptr;
    // Stands for this call and all before it. Rings carry it, so that ranks whose calls differ
    // notice also when nobody waited in those: a root does not wait.
    Seal seal_ = 0;

    PeerMemory peers_;
    CallMemory memory_;
    Diagnosis diagnosis_;
};

}  // namespace peal::comm
