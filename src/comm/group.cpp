// SPDX-License-Identifier: Apache-2.0
#include "comm/group.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "shm/machine.hpp"

namespace peal::comm {
namespace {

RoutineLimits limits(int nranks) {
    return {GroupMemory::box_bytes(nranks), GroupMemory::kRingBytes / 2, GroupMemory::kBulkBytes};
}

std::unique_ptr<Routine> make_meeting(const Table& table, int rank, int nranks) {
    return make_routine({.kind = CollectiveKind::barrier}, table, rank, nranks, limits(nranks));
}

}  // namespace

Group::Group(std::shared_ptr<World> world, std::vector<int> members, int rank, std::uint64_t extent,
             std::shared_ptr<const Table> table)
    : world_(std::move(world)),
      members_(std::move(members)),
      rank_(rank),
      extent_(extent),
      memory_(*world_, extent, nranks()),
      self_(memory_.member(rank)),
      table_(std::move(table)),
      routines_(table_, rank, nranks(), limits(nranks())),
      peers_(*world_, memory_, members_, rank),
      turns_(GroupMemory::kRingBytes, nranks()),
      meeting_(make_meeting(*table_, rank, nranks())) {}

Group::~Group() {
    self_.entered.store(turns_.next(), std::memory_order_relaxed);
    self_.has_left.store(true, std::memory_order_release);  // pairs with look_around()
    for (const int member : members_) ring_if_asleep(*world_, member);
    world_->disown(extent_);
}

// ---------------------------------------------------------------------------- turns

void Group::require_usable() {
    if (broken_) fail(Fault::wrong, "the communicator is broken: " + *broken_);
    if (has_failed()) fail_as_reported();
    if (world_->failed_rank() >= 0) fail_by_alarm();
}

void Group::begin(const Request& request) {
    announce(request.routine->stamp);
    request_ = &request;
    proceed();
}

// Begins the request, or a meeting that must come before.
void Group::proceed() {
    const Routine& routine = usable(*request_->routine);
    if (must_settle_reach(routine) || must_meet(turns_, routine)) {
        phase_ = Phase::meeting;
        enter(*meeting_, request_->routine->stamp);
    } else {
        phase_ = Phase::carrying;
        enter(routine, routine.stamp);
    }
}

// Before the first call that reaches private buffers, all come, all try, and all have tried: two
// meetings, or one if they have met before.
bool Group::must_settle_reach(const Routine& routine) {
    if (routine.staging != Staging::reach || reaching_ == Reaching::settled) [[likely]]
        return false;
    if (reaching_ == Reaching::tried) {
        reaching_ = Reaching::settled;
        return false;
    }
    if (turns_.have_met()) {
        reaching_ = Reaching::tried;
        if (!peers_.can_reach_all()) {
            memory_.head().out_of_reach.store(1, std::memory_order_relaxed);
        }
    }
    return true;
}

// Another routine for the same, where private memory is out of reach. All ranks decide alike.
const Routine& Group::usable(const Routine& wanted) {
    if (wanted.staging != Staging::reach || reaching_ == Reaching::unknown) [[likely]]
        return wanted;
    if (memory_.head().out_of_reach.load(std::memory_order_relaxed) == 0) return wanted;
    routines_.forbid_reach();
    substitute_ = routines_.find(wanted.shape);
    return *substitute_;
}

// From here on an error names the call.
void Group::announce(Stamp stamp) {
    phase_ = Phase::carrying;
    stamp_ = stamp;
    place_.turn.number = turns_.next();
    require_usable();
}

void Group::meet(SyncReason reason, std::uint64_t detail) {
    announce(sync_stamp(reason, detail));
    enter(*meeting_, sync_stamp(reason, detail));
    finish();
}

// The parcel is not overwritten too early: before rank 0 hands out the next, a meeting has told it
// that everybody has come, and so has read this one.
std::uint64_t Group::hand_out(SyncReason reason, std::uint64_t number) {
    std::atomic<std::uint64_t>& parcel = memory_.head().parcel;
    if (rank_ == 0) parcel.store(number, std::memory_order_relaxed);  // released by the meeting
    meet(reason, 0);
    return parcel.load(std::memory_order_relaxed);
}

// The turn has been taken.
void Group::enter_turn(Stamp stamp) {
    stamp_ = stamp;
    seal_ = (seal_ ^ stamp) * 0x9e3779b97f4a7c15;
    log();
}

void Group::enter(const Routine& routine, Stamp stamp) {
    reserve_tiles(routine.plan.tile_bytes);
    place_ = place_call(turns_, routine);
    enter_turn(stamp);
    carried_ = &routine;
    bind(routine);
    core_.start(routine.tape, bound_);
}

// The lines in which this rank rings others in the next turn, and what it will put beside them if
// the next call is like this one. It pays while all ranks run at once.
void Group::own_next_lines() const {
    if (!spinning_pays(*world_)) return;
    const std::uint64_t slot = (place_.turn.number + 1) % Turns::kSlots;
    const auto self = static_cast<std::uint64_t>(rank_);
    const std::byte* cell = memory_.slot(slot) + self * kCacheLineBytes;
    const std::uint64_t block = carried_->block_bytes;
    const std::byte* box = memory_.box(slot) + self * block;
    for (int peer = 0; peer < nranks(); ++peer) {
        const std::uint64_t part = static_cast<std::uint64_t>(peer) * memory_.rank_stride();
        if (peer == rank_) continue;
        own_soon(cell + part);
        for (std::uint64_t at = 0; at < block; at += kCacheLineBytes) own_soon(box + part + at);
    }
}

void Group::leave_turn() {
    advance_generation(carried_->plan, static_cast<std::size_t>(carried_->wiring.signal),
                       generations_[place_.turn.slot]);
    end_call(turns_, *carried_, place_);
}

// Release: pairs with called(), by which others learn what this rank called.
void Group::log() {
    LogEntry& entry = self_.log[place_.turn.number % Member::kLog];
    entry.stamp.store(stamp_, std::memory_order_relaxed);
    entry.turns.store(place_.turn.number + 1, std::memory_order_release);
}

// ---------------------------------------------------------------------------- memory

void Group::bind(const Routine& routine) {
    const Routine::Wiring& wiring = routine.wiring;
    const std::uint64_t stride = memory_.rank_stride();
    if (bound_.size() <= static_cast<std::size_t>(wiring.tiles)) bound_.resize(wiring.tiles + 1U);
    for (std::size_t i = 0; i < wiring.arguments.size() && wiring.arguments[i] >= 0; ++i) {
        at(wiring.arguments[i]) = {.base = request_->arguments[i]};
    }
    if (wiring.data >= 0) {
        BoundBuffer& data = at(wiring.data);
        data.base = data_of(routine);
        data.rank_stride = stride;
        if (routine.staging == Staging::window) data.rank_stride = request_->window.rank_stride;
        if (routine.staging == Staging::reach) data.rank_stride = 0;  // peers' parts are elsewhere
    }
    at(wiring.signal) = {memory_.slot(place_.turn.slot) + kLinePayload + sizeof(Stamp), stride,
                         generations_[place_.turn.slot]};
    at(wiring.tiles) = {.base = tiles_.data()};
}

std::byte* Group::data_of(const Routine& routine) {
    switch (routine.staging) {
        case Staging::line: return memory_.slot(place_.piece);
        case Staging::box: return memory_.box(place_.piece);
        case Staging::ring: return memory_.ring(place_.piece);
        case Staging::bulk: return memory_.bulk();
        case Staging::window: return request_->window.base;
        case Staging::reach: return show_result(routine);
        case Staging::none: break;
    }
    return nullptr;
}

std::byte* Group::show_result(const Routine& routine) {
    const bool has_input = routine.placement == Placement::into_window;
    std::byte* const result = request_->arguments[has_input ? 1 : 0];
    peers_.show(place_.turn.slot, result);
    return result;
}

void Group::grow_tiles(std::uint64_t bytes) {
    try {
        tiles_.resize(bytes);
    } catch (const std::exception&) {
        fail(Fault::resource, fmt::format("{}: no memory for {} of temporary data",
                                          describe(stamp_), memory_text(bytes)));
    }
}

// ---------------------------------------------------------------------------- carrying out

// A kernel of the user's: its windows are shared, and its cells are its own.
struct Group::KernelSupplier : PlainSupplier {
    explicit KernelSupplier(Group& group) : group(group) {}
    bool wait(const Core&) {
        group.wait_for_ring();
        return true;
    }
    void rang(const Core& core) {
        ring_if_asleep(*group.world_,
                       group.members_[static_cast<std::size_t>(core.last().dst.rank)]);
    }
    Group& group;
};

// A call of the communicator's: every ring carries the seal of its call in the 8 bytes before the
// cell, so that ranks in different calls notice. It is written before the cell, so whoever sees the
// cell sees that seal or a later one.
struct Group::CallSupplier : KernelSupplier {
    CallSupplier(Group& group, bool may_wait) : KernelSupplier(group), may_wait(may_wait) {}

    bool wait(const Core&) {
        if (!may_wait) return false;
        if (std::exchange(is_first_wait, false)) group.own_next_lines();  // nothing else to do
        group.wait_for_ring();
        return true;
    }
    void rings(std::byte* cell) { seal_at(cell).store(group.seal_, std::memory_order_relaxed); }
    void heard(const Op& wait, std::byte* cell) {
        const std::uint64_t found = seal_at(cell).load(std::memory_order_relaxed);
        if (found != group.seal_) [[unlikely]]
            group.pass_foreign_ring(wait);
    }
    void fetch(std::byte* to, int rank, std::uint64_t offset, std::uint64_t bytes) {
        if (!group.peers_.fetch(to, rank, offset, bytes)) group.fail_to_reach(rank);
    }
    void put(int rank, std::uint64_t offset, const std::byte* from, std::uint64_t bytes) {
        if (!group.peers_.put(rank, offset, from, bytes)) group.fail_to_reach(rank);
    }
    static std::atomic_ref<std::uint64_t> seal_at(std::byte* cell) {
        return detail::atomic_at<std::uint64_t>(cell - sizeof(std::uint64_t));
    }

    bool may_wait;
    bool is_first_wait = true;
};

bool Group::carry_on(bool may_wait) {
    while (phase_ != Phase::idle) {
        CallSupplier supplier(*this, may_wait);
        if (drive(core_, supplier) == Driven::set_aside) return false;
        leave_turn();
        if (phase_ == Phase::meeting) {
            proceed();
        } else {
            phase_ = Phase::idle;
        }
    }
    return true;
}

// Most rings come at once; neither the clock nor anybody's failure is asked before that is over.
void Group::wait_for_ring() {
    constexpr int kGlances = 200;
    constexpr int kGlancesAtFullSpeed = 60;  // relax() costs as much as a hand-over
    const bool has_rung = spinning_pays(*world_) && core_.look(kGlances, [](int glance) {
        if (glance >= kGlancesAtFullSpeed) relax();
    });
    if (!has_rung) wait_longer();
}

// Where ranks outnumber cores, the core is for whoever is wanted next. That may be this rank, if it
// does not just wait for a root: if no ring that it lacks comes from a rank that wants this very
// core, it is worth to look for some time, about as long as it takes to hand the core to another
// rank and get it back.
bool Group::looks_again() const {
    constexpr int kGlances = 64;
    const bool is_wanted_next =
        phase_ != Phase::kernel && carried_->sync != SyncPattern::all_from_root;
    if (spinning_pays(*world_) || !is_wanted_next) return !core_.is_blocked();
    const int core = sched_getcpu();
    const auto is_on_this_core = [&](const Place& cell) {
        const std::size_t ringer = cell.offset / kCacheLineBytes;
        const RankRecord& record = world_->header().ranks[members_[ringer]];
        return record.core.load(std::memory_order_relaxed) == core;
    };
    if (core_.lacks(is_on_this_core)) return false;
    return core_.look(kGlances, [](int) { relax(); });
}

void Group::wait_longer() {
    const auto ready = [this] { return looks_again() || has_failed(); };
    const Clock::time_point begin = Clock::now();
    for (;;) {
        Clock::time_point until = Clock::now() + Backoff::kNap;
        if (timeout_.count() > 0) until = std::min(until, begin + timeout_);
        const Waited waited =
            wait_until(*world_, members_[static_cast<std::size_t>(rank_)], ready, until);
        if (waited == Waited::ready) break;
        if (waited == Waited::alarm) fail_by_alarm();
        if (!core_.is_blocked()) return;  // it has looked out for a later ring
        look_around(Clock::now() - begin);
    }
    if (core_.is_blocked()) fail_as_reported();
}

// ---------------------------------------------------------------------------- kernels

void Group::agree_on(const KernelRequest& request) {
    announce(request.stamp);
    enter(*meeting_, request.stamp);
    finish();
}

void Group::run(const KernelRequest& request) {
    agree_on(request);
    carry_out(request);
}

void Group::run_agreed(const KernelRequest& request) {
    announce(request.stamp);
    if (turns_.must_meet(0)) {
        enter(*meeting_, sync_stamp(SyncReason::meeting, 0));
        finish();
    }
    place_.turn = turns_.take(0);
    enter_turn(request.stamp);
    carry_out(request);
}

void Group::carry_out(const KernelRequest& request) {
    phase_ = Phase::kernel;
    bound_.assign(request.memory.begin(), request.memory.end());
    reserve_tiles(request.tape->plan->tile_bytes);
    bound_.push_back({.base = tiles_.data()});
    core_.start(*request.tape, bound_);
    KernelSupplier supplier(*this);
    drive(core_, supplier);
    phase_ = Phase::idle;
}

}  // namespace peal::comm
