// SPDX-License-Identifier: Apache-2.0
// One rank's side of a communicator: who is in it, and what its collectives ask for. Where calls
// find their memory is CallMemory's job, carrying them out is that of Progress, and saying what
// went wrong that of Diagnosis.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/far_pairs.hpp"
#include "comm/group_memory.hpp"
#include "comm/progress.hpp"
#include "comm/request.hpp"
#include "comm/routine.hpp"
#include "comm/sites.hpp"
#include "comm/told_details.hpp"
#include "peal/communicator_calls.hpp"
#include "shm/world.hpp"

namespace peal::comm {

class Group {
public:
    // `members` are the world's ranks, in the order of their ranks here. `extent` is memory of
    // Members::communicator_bytes(), zeroed, that this rank owns one share of. `job` and `exchange`
    // are for worlds of several hosts (Members::connect_hosts).
    Group(std::shared_ptr<World> world, std::vector<int> members, int rank, std::uint64_t extent,
          std::shared_ptr<const Table> table, std::shared_ptr<hosts::Job> job = nullptr,
          const Members::Exchange& exchange = {});
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    int rank() const { return members_.rank; }
    int nranks() const { return members_.nranks(); }
    std::uint64_t id() const { return extent_; }  // the same on every rank of this host
    const Members& members() const { return members_; }
    const std::shared_ptr<World>& world() const { return members_.world; }
    const std::shared_ptr<const Table>& table() const { return table_; }

    // What a call asks for, checked: Error(usage) names what does not fit. Nothing has happened
    // then, and the communicator stays usable; but if other ranks made the call, they wait.
    Shape shape_of(const Call& call) const;
    RoutinePtr routine_of(const Shape& shape) { return routines_.find(shape); }
    RoutinePtr routine_of(const Call& call) { return routine_of(shape_of(call)); }
    Request request_of(const Call& call, CallSite at, RoutinePtr routine);
    Request request_of(const Call& call, CallSite at) {
        return request_of(call, at, routine_of(call));
    }
    // What the kernel of this stamp is, for the others' reports.
    void tell(const Stamp& kernel, const std::string& text) { told_details_.tell(kernel, text); }
    std::uint32_t site(CallSite at) { return sites_.number_of(at); }
    UnderWay& under_way() { return under_way_; }

    Progress& progress() { return progress_; }
    FarPairs* far_pairs() { return far_pairs_.get(); }  // null: all are on one host
    [[gnu::always_inline]] void run(const Call& call, CallSite at) {
        progress_.run(usual_request_of(call, at));
    }
    // The same request as request_of(), good until the next is asked for.
    [[gnu::always_inline]] const Request& usual_request_of(const Call& call, CallSite at) {
        Remembered& last = remembered_[place_of(call)];
        if (!last.is_for(call) || last.at != at || !is_of_window(last.request, call)) [[unlikely]]
            remember(call, at, last);
        return last.request;
    }

    // Everybody comes, for a reason of the communicator's own that must be the same everywhere.
    void meet(SyncReason reason, std::uint64_t detail, CallSite at) {
        progress_.meet(sync_stamp(reason, detail), site(at));
    }
    // Memory of the world for a window of all members, a share for each of this host: the same
    // offset on every rank of a host. A meeting must have come before. Throws Error(resource) on
    // all if one host has none.
    std::uint64_t allocate_window(std::uint64_t bytes, CallSite at);
    // Where members are on several hosts: everybody gives a text and gets everybody's.
    std::vector<std::string> exchange(const std::string& own, CallSite at);
    // The number of a window that is being made: 1, 2, ... the same on every rank.
    std::uint64_t count_window() { return ++windows_; }

private:
    std::uint64_t hand_out(const std::uint64_t* number, CallSite at);
    void hear(int member, std::string_view letter);
    // A call that was made before, by its buffers. Most programs make the same ones again, with the
    // same buffers; its reason is that a call which is found here is neither checked nor looked up.
    // (The table of routines behind it hands out a shared pointer, and an atomic increment waits
    // until the last ring has left this core.)
    struct alignas(kCacheLineBytes) Remembered {
        Call call;
        Request request;
        CallSite at;

        // All but the window. A table of counts may have changed behind its address, so those that
        // were asked for are looked at.
        [[gnu::always_inline]] bool is_for(const Call& other) const {
            return request.routine != nullptr && call.input == other.input &&
                   call.output == other.output && call.input_count == other.input_count &&
                   call.output_count == other.output_count && call.element == other.element &&
                   call.output_element == other.output_element && call.op == other.op &&
                   call.root == other.root && call.single == other.single &&
                   call.kind == other.kind && call.counts.size() == other.counts.size() &&
                   (other.counts.empty() || std::equal(other.counts.begin(), other.counts.end(),
                                                       request.routine->shape.counts.begin()));
        }
    };
    static constexpr std::size_t kRemembered = 64;
    [[gnu::always_inline]] static std::size_t place_of(const Call& call) {
        // Of a call on a window the other is null.
        const auto data = reinterpret_cast<std::uintptr_t>(call.window) +
                          reinterpret_cast<std::uintptr_t>(call.output);
        return (static_cast<std::size_t>(call.kind) + 16 * static_cast<std::size_t>(call.root) +
                5 * (data / kCacheLineBytes)) %
               kRemembered;
    }
    // The request is for the window of the call, or neither has one. Another window may be behind
    // the same address, but no other of this communicator's has its number.
    [[gnu::always_inline]] bool is_of_window(const Request& request, const Call& call) const {
        const std::uint64_t number = request.window.number;
        if (call.window == nullptr) return number == 0;
        return number != 0 && number_of(*call.window) == number;
    }
    // 0: it is another communicator's.
    std::uint64_t number_of(const WindowMemory& window) const;
    [[gnu::cold]] void remember(const Call& call, CallSite at, Remembered& last);

    const std::uint64_t extent_;
    std::uint64_t windows_ = 0;  // made so far
    Members members_;
    std::shared_ptr<const Table> table_;
    Routines routines_;
    Sites sites_;
    ToldDetails told_details_;
    std::unique_ptr<FarPairs> far_pairs_;
    UnderWay under_way_;
    // Elsewhere, so that one pointer leads to an entry.
    const std::unique_ptr<Remembered[]> remembered_ = std::make_unique<Remembered[]>(kRemembered);
    Progress progress_;
};

}  // namespace peal::comm
