// SPDX-License-Identifier: Apache-2.0
#include "check/crosscheck/naive.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "check/crosscheck/naive_memory.hpp"
#include "check/crosscheck/naive_program.hpp"

namespace peal::test {
namespace {

using How = NaiveAccess::How;
using Kind = NaiveStep::Kind;
using Word = std::uint32_t;

// States side by side, each once: where each agent stands, cells, flags and memory.
class States {
public:
    States(std::size_t words, std::size_t most) : words_(words) {
        std::size_t slots = 64;
        while (slots < 3 * most) slots *= 2;
        slots_.assign(slots, 0);
    }

    std::size_t size() const { return size_; }
    const Word* operator[](std::size_t number) const { return &all_[number * words_]; }

    void insert(const std::vector<Word>& state) {
        std::size_t at = hash_of(state) & (slots_.size() - 1);
        while (slots_[at] != 0) {
            const Word* other = (*this)[slots_[at] - 1];
            if (std::memcmp(other, state.data(), words_ * sizeof(Word)) == 0) return;
            at = (at + 1) & (slots_.size() - 1);
        }
        all_.insert(all_.end(), state.begin(), state.end());
        slots_[at] = static_cast<Word>(++size_);
    }

private:
    static std::size_t hash_of(const std::vector<Word>& state) {
        // Two lanes that do not wait for each other.
        std::uint64_t hash = state.size(), other = 0;
        std::size_t i = 0;
        for (std::uint64_t pair[2]; i + 4 <= state.size(); i += 4) {
            std::memcpy(pair, &state[i], sizeof pair);
            hash = (hash ^ pair[0]) * 0x9e3779b97f4a7c15;
            other = (other ^ pair[1]) * 0xc2b2ae3d27d4eb4f;
            hash ^= hash >> 32;
            other ^= other >> 29;
        }
        for (; i < state.size(); ++i) hash = (hash ^ state[i]) * 0x9e3779b97f4a7c15;
        hash ^= other * 0x165667b19e3779f9;
        return hash ^ hash >> 32;
    }

    std::size_t words_, size_ = 0;
    std::vector<Word> all_;
    std::vector<Word> slots_;  // numbers of states, from 1 on
};

class Naive {
public:
    Naive(const std::vector<CheckStage>& stages, int calls, MemoryOrder order)
        : program_(stages, calls, order), memory_(program_, truth_) {
        cells_at_ = program_.agents.size();
        flags_at_ = cells_at_ + 2 * program_.cells.size();
        marks_at_ = flags_at_ + program_.flags;
        find_views();
        memory_at_ = marks_at_ + views_.size();
        conflicts_.assign(std::size_t{program_.steps} * program_.steps, kUnknown);
    }

    std::optional<Truth> run(std::size_t most) {
        find_what_needs_no_run();
        truth_.inputs = !program_.is_computable ? Truth::Inputs::none
                        : program_.has_floats   ? Truth::Inputs::floats
                                                : Truth::Inputs::bytes;
        std::vector<Word> state(memory_at_ + 2 * program_.bytes, 0);
        memory_.begin(&state[memory_at_], &state[memory_at_] + program_.bytes);
        States states(state.size(), most);
        states.insert(state);
        std::vector<Word> next = state;
        for (std::size_t i = 0; i < states.size(); ++i) {
            if (states.size() > most) return std::nullopt;
            std::copy_n(states[i], state.size(), state.begin());
            find_enabled(state);
            find_races();
            find_unseen(state);
            for (const std::size_t agent : enabled_) {
                next = state;
                if (execute(next, agent)) states.insert(next);
            }
            if (enabled_.empty()) find_bad_end(state);
        }
        return std::move(truth_);
    }

private:
    enum Conflict : std::uint8_t { kUnknown, kNo, kYes };

    void add(ViolationKind kind) { truth_.kinds.insert(kind); }

    const NaiveStep* next_of(const std::vector<Word>& state, std::size_t agent) const {
        const std::vector<NaiveStep>& steps = program_.agents[agent].steps;
        return state[agent] < steps.size() ? &steps[state[agent]] : nullptr;
    }

    std::int64_t cell(const std::vector<Word>& state, std::uint32_t number) const {
        std::int64_t value = 0;
        std::memcpy(&value, &state[cells_at_ + 2 * number], sizeof value);
        return value;
    }

    // ------------------------------------------------------------------------ what can be next

    void find_enabled(const std::vector<Word>& state) {
        enabled_.clear();
        steps_.clear();
        for (std::size_t agent = 0; agent < program_.agents.size(); ++agent) {
            const NaiveStep* step = next_of(state, agent);
            if (!step || !is_issued(state, agent, *step) || !can_pass(state, *step)) continue;
            enabled_.push_back(agent);
            steps_.push_back(step);
        }
    }

    // Instructions of a lane are issued in order, and draining waits for all its pipes. The caller
    // comes between the calls of all lanes.
    bool is_issued(const std::vector<Word>& state, std::size_t agent, const NaiveStep& step) const {
        const NaiveAgent& mine = program_.agents[agent];
        const bool waits_in_lane = !mine.is_scalar || step.drains;
        const bool fences = step.kind == Kind::fence;
        if (!waits_in_lane && !step.is_caller && !program_.has_lanes && !fences) return true;
        for (std::size_t other = 0; other < program_.agents.size(); ++other) {
            const NaiveAgent& of = program_.agents[other];
            if (other == agent || of.rank != step.rank) continue;
            const NaiveStep* theirs = next_of(state, other);
            if (!theirs || theirs->order > step.order) continue;
            if (step.is_caller || theirs->is_caller || theirs->call != step.call) return false;
            // What is deferred is waited for by the fence of its group, and at the end of the call.
            if (of.group != 0) {
                if (fences && step.group == of.group && of.lane == mine.lane) return false;
                continue;
            }
            const bool in_lane = of.lane == mine.lane && (mine.is_scalar || of.is_scalar);
            if (in_lane && waits_in_lane) return false;
        }
        return true;
    }

    bool can_pass(const std::vector<Word>& state, const NaiveStep& step) const {
        if (step.kind == Kind::wait_flag) return state[flags_at_ + step.cell] != 0;
        if (step.kind != Kind::wait) return true;
        return compares(cell(state, step.cell), std::get<Wait>(*step.action).compare, step.value);
    }

    void find_races() {
        for (std::size_t a = 0; a < steps_.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                if (!conflict(*steps_[a], *steps_[b])) continue;
                const bool same =
                    steps_[a]->rank == steps_[b]->rank && steps_[a]->lane == steps_[b]->lane;
                add(same ? ViolationKind::pipe_hazard : ViolationKind::data_race);
            }
        }
    }

    bool conflict(const NaiveStep& a, const NaiveStep& b) {
        std::uint8_t& known = conflicts_[std::size_t{a.number} * program_.steps + b.number];
        if (known == kUnknown) {
            bool found = false;
            for (const NaiveAccess& x : a.accesses) {
                for (const NaiveAccess& y : b.accesses) found = found || conflict(x, y);
            }
            known = found ? kYes : kNo;
        }
        return known == kYes;
    }
    static bool conflict(const NaiveAccess& a, const NaiveAccess& b) {
        const auto on_line = [](How how) { return how == How::notify || how == How::put_line; };
        if (a.at != b.at || on_line(a.how) != on_line(b.how)) return false;
        // Who sets a cell puts back the rest of its line as it was.
        if (on_line(a.how)) {
            return (a.how == How::put_line || b.how == How::put_line) && a.of != b.of;
        }
        if (a.how == How::read && b.how == How::read) return false;
        return a.how != How::add || b.how != How::add || a.of != b.of;
    }

    // ------------------------------------------------------------------------ who sees what

    // Work that somebody does not see at once, or sees too early, and what has become of it:
    // a store that is fenced, or a write through the cache: kPending, kEvicted (the cache gave it
    // up), or it is visible to all;
    // a read through the cache: whether another rank, or another unit, has written there since the
    // cache forgot the line.
    struct Unseen {
        const NaiveStep* step = nullptr;
        std::size_t agent = 0;
        bool is_read = false;
    };
    enum Mark : Word { kSeen = 0, kPending = 1, kEvicted = 2, kOld = 4, kOldHere = 8 };

    void find_views() {
        for (std::size_t agent = 0; agent < program_.agents.size(); ++agent) {
            for (const NaiveStep& step : program_.agents[agent].steps) {
                if (!step.is_fenced && !step.is_cached) continue;
                views_.push_back({&step, agent, false});
                if (step.is_cached) views_.push_back({&step, agent, true});
            }
        }
    }

    bool is_seen_by(const Unseen& unseen, std::size_t agent) const {
        if (agent == unseen.agent) return true;
        const NaiveAgent& other = program_.agents[agent];
        return unseen.step->is_fenced && other.group == 0 &&
               is_of_core(unseen, other.rank, other.lane);
    }

    static bool is_of_core(const Unseen& unseen, int rank, std::size_t lane) {
        return unseen.step->rank == rank && unseen.step->lane == lane;
    }

    static bool writes(const NaiveAccess& access) {
        return access.how == How::write || access.how == How::add;
    }

    // Somebody is about to touch what he need not see.
    void find_unseen(const std::vector<Word>& state) {
        for (std::size_t v = 0; v < views_.size(); ++v) {
            const Unseen& unseen = views_[v];
            if (unseen.is_read || state[marks_at_ + v] == kSeen) continue;
            for (std::size_t i = 0; i < enabled_.size(); ++i) {
                if (is_seen_by(unseen, enabled_[i])) continue;
                if (meet(unseen, *steps_[i])) add_clash(unseen, *steps_[i]);
            }
        }
    }

    // Atomic additions that are on their way meet others without harm; those in a cache do not.
    static bool meet(const Unseen& unseen, const NaiveStep& other) {
        for (const NaiveAccess& mine : unseen.step->accesses) {
            if (!writes(mine)) continue;
            for (const NaiveAccess& theirs : other.accesses) {
                const bool is_byte = theirs.how != How::notify && theirs.how != How::put_line;
                if (!is_byte || theirs.at != mine.at) continue;
                if (unseen.step->is_cached || conflict(mine, theirs)) return true;
            }
        }
        return false;
    }

    void add_clash(const Unseen& unseen, const NaiveStep& other) {
        const bool same = is_of_core(unseen, other.rank, other.lane);
        add(same ? ViolationKind::pipe_hazard : ViolationKind::data_race);
    }

    static bool is_in(std::uint32_t byte, ByteRange place) {
        return byte >= place.begin && byte - place.begin < place.length;
    }

    void see(std::vector<Word>& state, std::size_t agent, const NaiveStep& step) {
        const bool ends = step.kind == Kind::consumes;
        const bool fences = ends || (step.kind == Kind::fence && step.group == 0);
        for (std::size_t v = 0; v < views_.size(); ++v) {
            const Unseen& unseen = views_[v];
            Word& mark = state[marks_at_ + v];
            if (unseen.is_read) {
                find_old(state, v, agent, step);
                continue;
            }
            if (unseen.step == &step) mark = kPending;
            if (ends ? unseen.step->rank != step.rank : !is_of_core(unseen, step.rank, step.lane)) {
                continue;
            }
            if (fences && (unseen.step->is_fenced || mark == kEvicted || ends)) mark = kSeen;
            const bool evicts =
                step.kind == Kind::evict && unseen.step->is_cached && mark == kPending;
            if (evicts && overlaps(unseen, step.evicted)) mark = kEvicted;
        }
    }

    // Lines are evicted one by one, but tiny programs write single elements.
    static bool overlaps(const Unseen& unseen, ByteRange place) {
        for (const NaiveAccess& access : unseen.step->accesses) {
            const bool wanted = unseen.is_read ? access.how != How::write : writes(access);
            if (wanted && is_in(access.at, place)) return true;
        }
        return false;
    }

    void find_old(std::vector<Word>& state, std::size_t v, std::size_t agent,
                  const NaiveStep& step) {
        const Unseen& unseen = views_[v];
        Word& mark = state[marks_at_ + v];
        const bool begins = step.kind == Kind::stages && step.rank == unseen.step->rank;
        if (agent == unseen.agent || begins) {
            const bool forgets =
                begins || (step.kind == Kind::evict && overlaps(unseen, step.evicted));
            if (unseen.step == &step) {
                if (mark & kOld) add(ViolationKind::data_race);
                if (mark & kOldHere) add(ViolationKind::pipe_hazard);
            }
            if (forgets || unseen.step == &step) mark = 0;
            return;
        }
        for (const NaiveAccess& theirs : step.accesses) {
            if (!writes(theirs)) continue;
            for (const NaiveAccess& mine : unseen.step->accesses) {
                const bool reads = mine.how == How::read || mine.how == How::add;
                if (!reads || mine.at != theirs.at) continue;
                mark |= is_of_core(unseen, step.rank, step.lane) ? kOldHere : kOld;
            }
        }
    }

    // ------------------------------------------------------------------------ execution

    // False: there is no going on from here.
    bool execute(std::vector<Word>& state, std::size_t agent) {
        const NaiveStep& step = *next_of(state, agent);
        ++state[agent];
        if (!views_.empty()) see(state, agent, step);
        Word* const terms = &state[memory_at_];
        Word* const lanes = terms + program_.bytes;
        switch (step.kind) {
            case Kind::none:
            case Kind::fence:
            case Kind::evict: break;
            case Kind::stages: memory_.stage(step, terms, lanes); break;
            case Kind::consumes:
                memory_.consume(step, terms, lanes);
                find_early_return(state, step);
                break;
            case Kind::data: memory_.carry_out(step, terms, lanes); break;
            case Kind::notify: notify(state, step); break;
            case Kind::wait:
                if (step.may_be_stale && !was_notified(state, step)) {
                    add(ViolationKind::stale_signal);
                }
                break;
            case Kind::set_flag: {
                Word& flag = state[flags_at_ + step.cell];
                if (flag != 0) add(ViolationKind::flag);
                return std::exchange(flag, 1) == 0;
            }
            case Kind::wait_flag: state[flags_at_ + step.cell] = 0; break;
        }
        return true;
    }

    void notify(std::vector<Word>& state, const NaiveStep& step) {
        std::int64_t value = step.value;
        if (std::get<Notify>(*step.action).op == NotifyOp::add) value += cell(state, step.cell);
        std::memcpy(&state[cells_at_ + 2 * step.cell], &value, sizeof value);
        if (!program_.cells[step.cell].is_narrow) return;
        if (value > std::numeric_limits<std::int32_t>::max() ||
            value < std::numeric_limits<std::int32_t>::min()) {
            add(ViolationKind::overflow);
        }
    }

    // By somebody who is in the wait's call, or beyond.
    bool was_notified(const std::vector<Word>& state, const NaiveStep& wait) const {
        for (std::size_t a = 0; a < program_.agents.size(); ++a) {
            for (std::size_t i = 0; i < state[a]; ++i) {
                const NaiveStep& done = program_.agents[a].steps[i];
                if (done.kind == Kind::notify && done.cell == wait.cell && done.call >= wait.call) {
                    return true;
                }
            }
        }
        return false;
    }

    // Of a barrier, before somebody has been called.
    void find_early_return(const std::vector<Word>& state, const NaiveStep& step) {
        const Meaning* meaning = program_.stage(step.call).meaning;
        if (!meaning || !meaning->meets) return;
        for (std::size_t a = 0; a < program_.agents.size(); ++a) {
            const NaiveStep* next = next_of(state, a);
            if (!program_.agents[a].is_scalar || program_.agents[a].lane != 0 || !next) continue;
            const bool is_called =
                next->call > step.call || (next->call == step.call && next->kind != Kind::stages);
            if (!is_called) add(ViolationKind::wrong_result);
        }
    }

    // ------------------------------------------------------------------------ ends

    void find_what_needs_no_run() {
        if (program_.has_uneven_flags) add(ViolationKind::flag);
        for (const NaiveCell& cell : program_.cells) {
            if (program_.is_repeated && cell.has_drift) add(ViolationKind::signal_state);
        }
    }

    // A lane that waits for a flag and for no signal is to blame itself.
    bool find_blocked(const std::vector<Word>& state) {
        std::set<std::pair<int, std::size_t>> by_signal, by_flag;
        for (std::size_t agent = 0; agent < program_.agents.size(); ++agent) {
            const NaiveStep* step = next_of(state, agent);
            if (step && step->kind == Kind::wait) by_signal.insert({step->rank, step->lane});
            if (step && step->kind == Kind::wait_flag) by_flag.insert({step->rank, step->lane});
        }
        if (by_signal.empty() && by_flag.empty()) return false;
        for (const auto& lane : by_signal) by_flag.erase(lane);
        add(by_flag.empty() ? ViolationKind::deadlock : ViolationKind::flag);
        return true;
    }

    void find_bad_end(const std::vector<Word>& state) {
        if (find_blocked(state) || !program_.is_repeated) return;
        for (std::uint32_t i = 0; i < program_.cells.size(); ++i) {
            const NaiveCell& info = program_.cells[i];
            if (!info.is_awaited || !info.is_added) continue;
            if (cell(state, i) != info.expected_end) add(ViolationKind::signal_state);
        }
    }

    Truth truth_;
    NaiveProgram program_;
    NaiveMemory memory_;
    std::size_t cells_at_ = 0, flags_at_ = 0, marks_at_ = 0, memory_at_ = 0;
    std::vector<Unseen> views_;
    std::vector<std::uint8_t> conflicts_;  // by numbers of two steps
    std::vector<std::size_t> enabled_;
    std::vector<const NaiveStep*> steps_;  // of those
};

}  // namespace

std::optional<Truth> naive_check(const std::vector<CheckStage>& stages, int calls,
                                 MemoryOrder order, std::size_t most) {
    return Naive(stages, calls, order).run(most);
}

}  // namespace peal::test
