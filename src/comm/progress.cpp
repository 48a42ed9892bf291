// SPDX-License-Identifier: Apache-2.0
#include "comm/progress.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "comm/sites.hpp"
#include "engine/contract.hpp"
#include "shm/backoff.hpp"
#include "shm/machine.hpp"

namespace peal::comm {

Progress::Progress(const Members& members, Routines& routines, UnderWay& under_way)
    : members_(members),
      routines_(routines),
      meeting_(routines.find({.kind = CollectiveKind::barrier})),
      under_way_(under_way),
      peers_(members),
      memory_(members, peers_),
      diagnosis_(members, peers_, call_, under_way) {
    if (members.span_hosts()) far_.emplace(*members.job, members.nranks() > 2);
}

// ---------------------------------------------------------------------------- turns

// For the same, where private memory is out of reach.
const Routine& Progress::substitute_for(const Routine& wanted) {
    substitute_ = routines_.without_reach().find(wanted.shape);
    return *substitute_;
}

// From here on an error names the call.
inline void Progress::announce(const Stamp& stamp, std::uint32_t site) {
    note_begin();
    call_.phase = Phase::carrying;
    call_.routine = nullptr;  // the last one may be gone
    call_.stamp = stamp;
    call_.site = site;
    call_.place.turn.number = memory_.next_turn();
    if (far_) [[unlikely]]
        members_.job->glance();  // what has come from there counts
    diagnosis_.require_usable();
}

// The call was announced, and its turn has been taken.
inline void Progress::enter_turn() {
    const Stamp stamp = call_.stamp;
    call_hash_ = hash_after(call_hash_, stamp);
    diagnosis_.log(call_.place.turn.number, stamp, call_.site);
}

inline void Progress::enter(const Routine& routine, const Request& request) {
    reserve_tiles(routine.tile_bytes);
    call_.place = memory_.take(routine);
    enter_turn();
    call_.routine = &routine;
    call_.core.start(routine.tape, memory_.bind(request, routine, call_.place));
}

// Begins the request, or a meeting that must come before.
inline void Progress::begin_here(const Request& request) {
    announce(request.stamp, request.site);
    request_ = &request;
    const Routine& routine = usable(*request.routine);
    if (memory_.must_meet(routine)) [[unlikely]]
        return enter_meeting(request);
    enter(routine, request);
}

void Progress::enter_meeting(const Request& request) {
    call_.phase = Phase::meeting;
    enter(*meeting_, request);
}

// The ranks have met before the request at hand, and may have to once more.
void Progress::proceed() {
    const Routine& routine = usable(*request_->routine);
    if (memory_.must_meet(routine)) return enter_meeting(*request_);
    call_.phase = Phase::carrying;
    enter(routine, *request_);
}

void Progress::fail_for_tiles(std::uint64_t bytes) {
    diagnosis_.fail(Fault::resource,
                    fmt::format("{}: no memory for {} of temporary data",
                                diagnosis_.report().text_of(call_.stamp, members_.rank),
                                shm::memory_text(bytes)));
}

// ---------------------------------------------------------------------------- carrying out

// A kernel of the user's: its windows are shared, and its cells are its own.
struct Progress::KernelSupplier : engine::PlainSupplier {
    explicit KernelSupplier(Progress& progress) : progress(progress) {}
    bool wait(const engine::Core&) {
        progress.wait_for_ring();
        return true;
    }
    void rang(const engine::Core& core) {
        const Members& members = progress.members_;
        ring_if_asleep(*members.world, members.in_world(core.last().dst.rank));
    }
    Progress& progress;
};

// A call of the communicator's: every ring carries the hash of its call in the 8 bytes before the
// cell, so that ranks in different calls notice. It is written before the cell, so whoever sees the
// cell sees that hash or a later one.
struct Progress::CallSupplier : KernelSupplier {
    CallSupplier(Progress& progress, Manner manner) : KernelSupplier(progress), manner(manner) {}

    bool wait(const engine::Core&) {
        if (manner == Manner::leaves) return progress.has_come();
        if (manner == Manner::polls) return !progress.stands();
        if (std::exchange(is_first_wait, false)) {  // there is nothing else to do
            progress.memory_.own_next_lines(*progress.call_.routine, progress.call_.place);
        }
        progress.wait_for_ring();
        return true;
    }
    void rings(std::byte* cell) {
        hash_at(cell).store(progress.call_hash_, std::memory_order_relaxed);
    }
    void heard(const engine::Op& wait, std::byte* cell) {
        const CallHash found = hash_at(cell).load(std::memory_order_relaxed);
        if (found != progress.call_hash_) [[unlikely]]
            progress.diagnosis_.expect_same_calls(ringer_of(wait));
    }
    void fetch(std::byte* to, int rank, std::uint64_t offset, std::uint64_t bytes) {
        if (!progress.peers_.fetch(to, rank, offset, bytes)) {
            progress.diagnosis_.fail_to_reach(rank);
        }
    }
    void put(int rank, std::uint64_t offset, const std::byte* from, std::uint64_t bytes) {
        if (!progress.peers_.put(rank, offset, from, bytes)) {
            progress.diagnosis_.fail_to_reach(rank);
        }
    }
    static std::atomic_ref<CallHash> hash_at(std::byte* cell) {
        return engine::detail::atomic_at<CallHash>(cell - sizeof(CallHash));
    }

    Manner manner;
    bool is_first_wait = true;
};

// Returns when what was begun on other hosts is over.
template <class IsOver>
void Progress::wait_for_far(IsOver&& is_over) {
    const auto ready = [&] { return is_over() || diagnosis_.has_failed(); };
    const Clock::time_point begin = Clock::now();
    for (;;) {
        const Waited waited = members_.wait_until(ready, diagnosis_.next_look(begin));
        if (waited == Waited::alarm) diagnosis_.fail_by_alarm();
        if (const auto trouble = far_->trouble()) {
            diagnosis_.fail_to_reach_host(trouble->first, trouble->second);
        }
        if (is_over()) return;
        if (diagnosis_.has_failed()) diagnosis_.fail_as_reported();
        if (waited == Waited::deadline) diagnosis_.look_around(begin);
    }
}

// Where members are on other hosts. What this rank tells anybody is true of what it did there.
template <class Near>
struct Progress::FarSupplier : Near {
    using Near::Near;
    using Near::progress;

    FarMemory& far() { return *progress.far_; }

    void rings(std::byte* cell) {
        complete_but(FarMemory::kNobody);
        Near::rings(cell);
    }
    void heard(const engine::Op& wait, std::byte* cell) {
        progress.members_.job->net().catch_up();
        Near::heard(wait, cell);
    }
    void fetch_far(std::byte* to, const std::byte* mirror, std::uint64_t bytes) {
        far().fetch(to, mirror, bytes);
    }
    void fetched() {
        progress.wait_for_far([this] { return far().is_over(); });
    }
    void put_far(std::byte* mirror, const std::byte* from, std::uint64_t bytes,
                 std::uint16_t group) {
        far().put(mirror, from, bytes, group);
    }
    void fence_far(std::uint16_t group) { far().fence(group); }
    void changes(const std::byte* memory, std::uint64_t bytes) {
        if (far().uses(memory, bytes)) fetched();
    }
    void complete_but(int rank) {
        far().begin_telling(rank);
        if (!far().is_complete_but(rank)) {
            progress.wait_for_far([&] { return far().is_complete_but(rank); });
        }
        far().end_telling(rank);
    }
};

struct Progress::FarKernelSupplier : FarSupplier<KernelSupplier> {
    using FarSupplier::FarSupplier;

    // A set of a cell that does not only grow is over before this rank goes on: so it is in one
    // order with what this rank sees after it. An add is, because it may overflow.
    void notify_far(const engine::Core& core, const engine::Op& op, std::int64_t value) {
        std::byte* const cell = core.address(op.dst);
        const int rank = far().owner_of(cell);
        core.expect_fit(op, value);
        complete_but(rank);
        const auto bytes = static_cast<int>(bytes_of(op.element));
        if (op.work == engine::Opcode::notify_add) {
            far().add(cell, value, bytes);
            fetched();
            core.expect_sum(op, far().before(), value);
            return;
        }
        far().set(cell, &value, static_cast<std::uint64_t>(bytes));  // the low bytes come first
        if (op.work == engine::Opcode::notify_exchange) {
            far().flush(rank);
            fetched();
        }
    }
};

// A call of the communicator's: hash and cell go together, since they are in one line. Of a line
// that is the sender's alone what it holds before them goes along.
struct Progress::FarCallSupplier : FarSupplier<CallSupplier> {
    using FarSupplier::FarSupplier;

    void put_far(std::byte* mirror, const std::byte* from, std::uint64_t bytes,
                 std::uint16_t group) {
        if (progress.call_.routine->staging == Staging::line) {
            far().put_in_line(mirror, from, bytes, group);
        } else {
            far().put(mirror, from, bytes, group);
        }
    }
    void notify_far(const engine::Core& core, const engine::Op& op, std::int64_t value) {
        std::byte* const cell = core.address(op.dst);
        const int rank = far().owner_of(cell);
        complete_but(rank);
        struct {
            CallHash hash;
            std::int64_t cell;
        } const told{progress.call_hash_, value};
        if (progress.members_.job->net().keeps_lines(rank)) {
            return far().set(cell - sizeof told.hash, &told, sizeof told);
        }
        far().set(cell - sizeof told.hash, &told.hash, sizeof told.hash);
        far().set(cell, &told.cell, sizeof told.cell);
    }
};

engine::Driven Progress::drive_far_call(Manner manner) {
    FarCallSupplier supplier(*this, manner);
    const engine::Driven driven = engine::drive(call_.core, supplier);
    if (driven == engine::Driven::done) end_far();
    return driven;
}

inline engine::Driven Progress::drive_call(Manner manner) {
    if (far_) [[unlikely]]
        return drive_far_call(manner);
    CallSupplier supplier(*this, manner);
    return engine::drive_here(call_.core, supplier);
}

void Progress::drive_kernel() {
    if (far_) [[unlikely]] {
        FarKernelSupplier supplier(*this);
        engine::drive(call_.core, supplier);
        end_far();
        // Windows of the user's: whom it tells of them, and how, is not for this call to know.
        return supplier.complete_but(FarMemory::kNobody);
    }
    KernelSupplier supplier(*this);
    engine::drive(call_.core, supplier);
}

// The buffers are the caller's again.
void Progress::end_far() {
    far_->end_call();
    const auto is_over = [this] { return far_->is_over(); };
    if (!is_over()) wait_for_far(is_over);
}

// Whether the ring at hand has, now that there has been progress.
bool Progress::has_come() {
    if (!far_) return false;
    members_.job->progress();
    return !call_.core.is_blocked();
}

inline bool Progress::carry_on(Manner manner) {
    for (;;) {
        if (drive_call(manner) == engine::Driven::set_aside) return false;
        memory_.give_back(*call_.routine, call_.place);
        if (call_.phase != Phase::meeting) [[likely]] {
            note_end();
            call_.phase = Phase::idle;
            return true;
        }
        proceed();
    }
}

void Progress::begin(const Request& request) { begin_here(request); }
bool Progress::carry_on_begun(Manner manner) {
    return call_.phase == Phase::idle || carry_on(manner);
}
bool Progress::go_on() { return carry_on_begun(Manner::leaves); }
bool Progress::poll() { return carry_on_begun(Manner::polls); }
void Progress::finish() { carry_on_begun(Manner::waits); }

void Progress::run(const Request& request) {
    begin_here(request);
    carry_on(Manner::waits);
}

void Progress::meet(const Stamp& reason, std::uint32_t site) {
    static const Request kNothing;
    announce(reason, site);
    enter(*meeting_, kNothing);
    finish();
}

// Most rings come at once; neither the clock nor anybody's failure is asked before that is over.
void Progress::wait_for_ring() {
    constexpr int kGlances = 200;
    constexpr int kGlancesAtFullSpeed = 60;  // relax() costs as much as a hand-over
    if (far_) [[unlikely]]
        return wait_longer();
    const auto pause = [](int i) {
        if (i >= kGlancesAtFullSpeed) shm::relax();
    };
    const bool pays = spinning_pays(*members_.world);
    if (under_way_.has_others(call_)) [[unlikely]] {
        for (int i = 0; pays && i < kGlances && !under_way_.can_go_on(call_); ++i) {
            if (!call_.core.is_blocked()) return;
            pause(i);
        }
        return wait_longer();
    }
    if (!pays || !call_.core.look(kGlances, pause)) wait_longer();
}

// The one rank that this one hands little to and fro with, if it is one and nothing else is under
// way. Much is sooner copied where one core's cache has it.
int Progress::partner() const {
    constexpr std::uint64_t kLittle = 32 << 10;
    const int other = members_.partner();
    if (other == shm::kNoPartner || under_way_.has_others(call_)) return shm::kNoPartner;
    const bool is_little = call_.phase == Phase::kernel || message_bytes(*call_.routine) <= kLittle;
    return is_little ? other : shm::kNoPartner;
}

// Where ranks outnumber cores, the core is for whoever is wanted next. That may be this rank, if it
// does not just wait for a root of several: if no ring that it lacks comes from a rank that wants
// this very core, it is worth to look for some time, about as long as it takes to hand the core to
// another rank and get it back.
bool Progress::looks_again() const {
    constexpr int kGlances = 64;
    if (spinning_pays(*members_.world)) return !call_.core.is_blocked();
    const bool is_wanted_next =
        (call_.phase != Phase::kernel && call_.routine->sync != SyncPattern::all_from_root) ||
        partner() != shm::kNoPartner;
    if (!is_wanted_next) return !call_.core.is_blocked();
    const int core = sched_getcpu();
    const auto is_on_this_core = [&](const engine::Address& cell) {
        const auto ringer = static_cast<int>(cell.offset / kCacheLineBytes);
        const RankRecord& record = members_.world->header().ranks[members_.in_world(ringer)];
        return record.core.load(std::memory_order_relaxed) == core;
    };
    if (call_.core.lacks(is_on_this_core)) return false;
    return call_.core.look(kGlances, [](int) { shm::relax(); });
}

void Progress::wait_longer() {
    const auto ready = [this] {
        return looks_again() || under_way_.can_go_on(call_) || diagnosis_.has_failed();
    };
    const Clock::time_point begin = Clock::now();
    const struct Standstill {
        ~Standstill() { of.go_on(); }
        const Diagnosis& of;
    } standstill{diagnosis_};
    for (;;) {
        carry_on_others();
        const Waited waited = members_.wait_until(ready, diagnosis_.next_look(begin), partner());
        if (waited == Waited::alarm) diagnosis_.fail_by_alarm();
        if (!call_.core.is_blocked()) return;
        if (diagnosis_.has_failed()) diagnosis_.fail_as_reported();
        if (waited != Waited::deadline) continue;
        diagnosis_.stand_still();
        diagnosis_.look_around(begin);
    }
}

// Whatever goes wrong there ends this call, too.
void Progress::carry_on_others() {
    if (!under_way_.can_go_on(call_)) return;
    diagnosis_.go_on();
    try {
        under_way_.go_on(call_);
    } catch (...) {
        diagnosis_.let_go();
        throw;
    }
}

// The questions of wait_longer(), in passing. False: a ring has come meanwhile. (What a rank did
// before it failed counts, so the cell is looked at once more after a failure was seen.)
bool Progress::stands() {
    if (far_) members_.job->progress();
    const bool has_failed = diagnosis_.has_failed();
    const bool is_alarm = members_.world->failed_rank() >= 0;
    const std::uint64_t turn = call_.place.turn.number;
    const std::size_t instruction = call_.core.position();
    const Clock::time_point now = Clock::now();
    if (turn != stand_.turn || instruction != stand_.instruction || stand_.since > now) {
        stand_ = {turn, instruction, now, diagnosis_.next_look(now)};
    }
    if (!has_failed && !is_alarm && now < stand_.next_look) return true;
    if (!call_.core.is_blocked()) return false;
    if (has_failed) diagnosis_.fail_as_reported();
    if (is_alarm) diagnosis_.fail_by_alarm();
    diagnosis_.look_around(stand_.since);
    stand_.next_look = diagnosis_.next_look(stand_.since);
    return true;
}

// One line, written at once, so that those of several ranks do not mix. Meetings of the
// communicator's own are part of a call that has its line.
void Progress::log_call() const {
    if (call_.stamp == sync_stamp(SyncReason::meeting, 0)) return;
    const auto took = std::chrono::duration<double, std::micro>(Clock::now() - began_);
    std::string what, how;
    if (call_.phase == Phase::kernel) {
        what = "kernel " + call_.core.plan().kernel;
        const Traffic moved = traffic(call_.core.plan());
        how = fmt::format("{} instructions, {} bytes read, {} written",
                          call_.core.plan().instructions.size(), moved.bytes_read,
                          moved.bytes_written);
    } else {
        const Routine& routine = *call_.routine;
        what = diagnosis_.report().text_of(call_.stamp, members_.rank);
        const bool is_sync = &routine == meeting_.get() && call_.stamp != stamp_of(routine.shape);
        how = is_sync
                  ? "all meet"
                  : fmt::format("{}, {} bytes", routine.collective.recipe, message_bytes(routine));
    }
    // The turns of a pair are nobody's calls.
    const std::string number =
        members_.are_pair() ? std::string() : fmt::format("call {}: ", call_.place.turn.number);
    const std::string line =
        fmt::format("peal: rank {}: {}{}{}: {}, {:.1f} us\n", members_.name_of(members_.rank),
                    number, what, site_text(members_.self(), call_.site), how, took.count());
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

// ---------------------------------------------------------------------------- kernels

void Progress::run(const KernelRequest& request) {
    note_begin();
    call_.phase = Phase::kernel;
    call_.plan_of = request.plan_of;
    reserve_tiles(engine::tile_room(*request.tape->plan));
    call_.core.start(*request.tape, memory_.bind(request));
    drive_kernel();
    note_end();
    call_.phase = Phase::idle;
}

void Progress::run_in_turn(const KernelRequest& request) {
    if (memory_.must_meet_for_kernel()) meet(sync_stamp(SyncReason::meeting, 0), request.site);
    announce(request.stamp, request.site);
    call_.place = memory_.take_for_kernel();
    enter_turn();
    run(request);
}

}  // namespace peal::comm
