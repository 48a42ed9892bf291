// SPDX-License-Identifier: Apache-2.0
// One rank's side of a communicator: it carries out calls, one at a time, in the order in which
// they are made.
//
// A call takes a turn (src/comm/turns.hpp), notes in its log what it is, binds its plan to memory
// and steps through it. When it has to wait it can be left and come back to, so calls may be
// started and waited for later.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/call_place.hpp"
#include "comm/group_memory.hpp"
#include "comm/peer_memory.hpp"
#include "comm/routine.hpp"
#include "engine/contract.hpp"
#include "peal/communicator_calls.hpp"
#include "peal/error.hpp"
#include "shm/backoff.hpp"
#include "shm/world.hpp"

namespace peal::comm {

using namespace shm;  // NOLINT: a communicator lives in shared memory

// Symmetric memory outside the group's own: a window of the user's.
struct Symmetric {
    std::byte* base = nullptr;  // of rank 0's part
    std::uint64_t rank_stride = 0;
};

// A routine and this rank's buffers, in the order of its plan.
struct Request {
    const Routine* routine = nullptr;
    std::array<std::byte*, 2> arguments{};
    Symmetric window;
};

// A kernel's plan, ready to run, with everything bound but the tile memory.
struct KernelRequest {
    const Tape* tape = nullptr;
    std::vector<BoundBuffer> memory;
    Stamp stamp = 0;
};

class Group {
public:
    // `members` are the world's ranks, in the order of their ranks here. `extent` is memory of
    // GroupMemory::bytes(), zeroed, that this rank owns one share of.
    Group(std::shared_ptr<World> world, std::vector<int> members, int rank, std::uint64_t extent,
          std::shared_ptr<const Table> table);
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    int rank() const { return rank_; }
    std::uint64_t id() const { return extent_; }  // the same on every rank
    int nranks() const { return static_cast<int>(members_.size()); }
    const std::vector<int>& members() const { return members_; }
    const std::shared_ptr<World>& world() const { return world_; }
    const std::shared_ptr<const Table>& table() const { return table_; }
    void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

    // What a call asks for, checked: Error(usage) names what does not fit. Nothing has happened
    // then, and the communicator stays usable; but if other ranks made the call, they wait.
    Shape shape_of(const Call& call) const;
    RoutinePtr routine_of(const Call& call) { return routines_.find(shape_of(call)); }
    Request request_of(const Call& call, const Routine& routine) const;

    // Throws what broke the communicator, if anything has.
    void require_usable();

    // ---- carrying out; one request at a time

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
    void run(const Call& call) {
        Remembered& last = remembered_[place_of(call)];
        if (!last.is_for(call)) [[unlikely]]
            remember(call, last);
        run(last.request);
    }

    // All ranks come and make sure that they want the same kernel of the user's.
    void agree_on(const KernelRequest& request);
    // Runs it after all ranks have agreed on it.
    void run(const KernelRequest& request);
    // Runs one on which they agreed before. Nobody waits for anybody but as the kernel says; the
    // run is a turn, so that it is known to all who was in it.
    void run_agreed(const KernelRequest& request);

    // Everybody comes, for a reason of the communicator's own that must be the same everywhere.
    void meet(SyncReason reason, std::uint64_t detail);

    // Rank 0 hands a number to everybody; a meeting must have come before.
    std::uint64_t hand_out(SyncReason reason, std::uint64_t number);

private:
    // A call that was made before. Most programs make the same ones again, with the same buffers.
    // (Looking the routine up would copy a shared pointer, and an atomic increment waits until the
    // last ring has left this core.)
    struct Remembered {
        Call call;
        RoutinePtr routine;
        Request request;

        // A window or a table of counts may have changed behind its address.
        bool is_for(const Call& other) const {
            return routine != nullptr && call.input == other.input && call.output == other.output &&
                   call.input_count == other.input_count &&
                   call.output_count == other.output_count && call.element == other.element &&
                   call.output_element == other.output_element && call.op == other.op &&
                   call.root == other.root && call.single == other.single &&
                   call.kind == other.kind && other.window == nullptr && call.window == nullptr &&
                   other.counts.empty();
        }
    };
    static constexpr std::size_t kRemembered = 64;
    static std::size_t place_of(const Call& call) {
        const auto line = reinterpret_cast<std::uintptr_t>(call.output) / kCacheLineBytes;
        return (static_cast<std::size_t>(call.kind) + 16 * static_cast<std::size_t>(call.root) +
                5 * line) %
               kRemembered;
    }
    void remember(const Call& call, Remembered& last);

    enum class Phase : std::uint8_t { idle, meeting, carrying, kernel };

    // group.cpp
    struct KernelSupplier;
    struct CallSupplier;
    void announce(Stamp stamp);
    void proceed();
    bool must_settle_reach(const Routine& routine);
    const Routine& usable(const Routine& wanted);
    void enter_turn(Stamp stamp);
    void enter(const Routine& routine, Stamp stamp);
    void carry_out(const KernelRequest& request);
    void bind(const Routine& routine);
    BoundBuffer& at(std::int16_t buffer) { return bound_[static_cast<std::size_t>(buffer)]; }
    std::byte* data_of(const Routine& routine);
    std::byte* show_result(const Routine& routine);
    void own_next_lines() const;
    void leave_turn();
    void log();
    void reserve_tiles(std::uint64_t bytes) {
        if (tiles_.size() < bytes) grow_tiles(bytes);
    }
    void grow_tiles(std::uint64_t bytes);
    bool carry_on(bool may_wait);
    void wait_for_ring();
    void wait_longer();
    bool looks_again() const;

    // failure.cpp
    // Acquire: pairs with give_up().
    bool has_failed() const {
        return memory_.head().failure.load(std::memory_order_acquire) != GroupHead::none;
    }
    void look_around(Clock::duration waited);
    void pass_foreign_ring(const Op& wait);
    void note_waiting();
    std::optional<Stamp> called(int rank, std::uint64_t turn) const;
    void expect_same_calls(int rank);
    [[noreturn]] void fail_to_reach(int peer);
    [[noreturn]] void give_up(GroupHead::Failure failure, int culprit, std::uint64_t turn,
                              int reason = 0);
    [[noreturn]] void fail(Fault fault, const std::string& message);
    [[noreturn]] void fail_as_reported();
    [[noreturn]] void fail_by_alarm();
    std::string calls_of_all(std::uint64_t turn) const;
    std::string standings() const;
    std::string standing_in_kernel() const;

    std::shared_ptr<World> world_;
    const std::vector<int> members_;
    const int rank_;
    const std::uint64_t extent_;
    GroupMemory memory_;
    Member& self_;
    std::shared_ptr<const Table> table_;
    Routines routines_;
    std::array<Remembered, kRemembered> remembered_;
    PeerMemory peers_;
    // Whether private memory is in reach: not yet asked, tried by this rank, known to all.
    enum class Reaching : std::uint8_t { unknown, tried, settled } reaching_ = Reaching::unknown;
    RoutinePtr substitute_;  // of a routine that cannot be used
    Turns turns_;
    std::unique_ptr<Routine> meeting_;
    std::array<std::int64_t, Turns::kSlots> generations_{};  // of the slots' signals
    std::chrono::milliseconds timeout_{0};
    std::optional<std::string> broken_;  // by what

    // The request at hand.
    Core core_;
    Phase phase_ = Phase::idle;
    const Request* request_ = nullptr;
    const Routine* carried_ = nullptr;  // the request's routine, or the meeting
    Stamp stamp_ = 0;
    // Stands for this call and all before it. Rings carry it, so that ranks whose calls differ
    // notice also when nobody waited in those: a root does not wait.
    std::uint64_t seal_ = 0;
    CallPlace place_;
    std::vector<BoundBuffer> bound_;
    std::vector<std::byte> tiles_;
};

}  // namespace peal::comm
