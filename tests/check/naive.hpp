// SPDX-License-Identifier: Apache-2.0
// An obviously right checker for tiny programs: it goes through every interleaving, one instruction
// at a time, with no reductions, on bytes that hold texts. It shares no code with the checker.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "peal/check.hpp"

namespace peal::test {

class Naive {
public:
    Naive(const std::vector<Plan>& plans, const Meaning* meaning, int calls)
        : plans_(plans), meaning_(meaning), calls_(calls) {
        for (const Plan& plan : plans) {
            for (const Pipe pipe : {Pipe::scalar, Pipe::load, Pipe::vector, Pipe::store, Pipe::cube,
                                    Pipe::cube_load, Pipe::cube_store}) {
                Agent agent{static_cast<std::size_t>(plan.rank), pipe, {}};
                int order = 0;
                for (int call = 0; call < calls; ++call) {
                    if (pipe == Pipe::scalar) agent.items.push_back({call, Step::kStages, order});
                    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
                        ++order;
                        if (pipe_of(plan.instructions[i]) != pipe) continue;
                        agent.items.push_back({call, static_cast<int>(i), order});
                    }
                    ++order;
                    if (pipe == Pipe::scalar) agent.items.push_back({call, Step::kConsumes, order});
                    ++order;
                }
                if (!agent.items.empty()) agents_.push_back(std::move(agent));
            }
        }
    }

    // Every kind of violation that some interleaving shows. Empty when there are more states than
    // `most`.
    std::optional<std::set<ViolationKind>> run(std::size_t most) {
        std::set<State> seen;
        std::deque<State> open;
        State first{std::vector<std::size_t>(agents_.size(), 0), {}, {}, {}};
        seen.insert(first);
        open.push_back(first);
        while (!open.empty()) {
            const State state = open.front();
            open.pop_front();
            find_races(state);
            bool moved = false;
            for (std::size_t agent = 0; agent < agents_.size(); ++agent) {
                if (!enabled(state, agent)) continue;
                moved = true;
                State next = state;
                if (!execute(next, agent)) continue;
                if (seen.size() > most) return std::nullopt;
                if (seen.insert(next).second) open.push_back(std::move(next));
            }
            if (!moved) find_bad_end(state);
        }
        return kinds_;
    }

private:
    using Byte = std::pair<std::pair<int, int>, std::uint64_t>;  // (buffer, rank), offset
    using CellName = std::pair<std::pair<int, int>, std::uint64_t>;
    using Flag = std::tuple<std::size_t, Pipe, Pipe, int>;  // rank, from, to, event
    struct Item {
        int call;
        int index;
        int order;  // in the instruction stream of its rank
    };
    // A rank's scalar unit, which issues its instructions, or a pipe beside it.
    struct Agent {
        std::size_t rank;
        Pipe pipe;
        std::vector<Item> items;
    };
    struct State {
        std::vector<std::size_t> next;
        std::set<Flag> flags;
        std::map<CellName, std::int64_t> cells;
        std::map<Byte, std::string> memory;
        auto operator<=>(const State&) const = default;
    };
    struct Access {
        Byte byte;
        bool writes;
        std::optional<Element> adds = std::nullopt;  // a write that is an atomic addition
    };

    static Pipe pipe_of(const Instruction& instruction) {
        Pipe pipe = instruction.pipe;
        if (const auto* set = std::get_if<SetFlag>(&instruction.action)) pipe = set->from;
        if (const auto* wait = std::get_if<WaitFlag>(&instruction.action)) pipe = wait->to;
        return pipe == Pipe::none || pipe == Pipe::all ? Pipe::scalar : pipe;
    }

    const Item* item(const State& state, std::size_t agent) const {
        const std::vector<Item>& items = agents_[agent].items;
        return state.next[agent] < items.size() ? &items[state.next[agent]] : nullptr;
    }
    const Action* action(std::size_t rank, const Item& item) const {
        if (item.index < 0) return nullptr;
        return &plans_[rank].instructions[static_cast<std::size_t>(item.index)].action;
    }
    std::int64_t value_of(const Value& value, const Cell& cell, int call) const {
        return value.constant + value.per_generation * call * plans_[0].advance[cell.buffer];
    }
    static CellName name_of(const Cell& cell) { return {{cell.buffer, cell.rank}, cell.index}; }
    static std::int64_t look(const State& state, const Cell& cell) {
        const auto found = state.cells.find(name_of(cell));
        return found == state.cells.end() ? 0 : found->second;
    }

    bool drains(std::size_t rank, const Item& item) const {
        if (item.index < 0) return true;
        const Instruction& instruction =
            plans_[rank].instructions[static_cast<std::size_t>(item.index)];
        return instruction.pipe == Pipe::all;
    }

    bool enabled(const State& state, std::size_t agent) const {
        const Item* next = item(state, agent);
        if (!next) return false;
        const std::size_t rank = agents_[agent].rank;
        const bool is_scalar = agents_[agent].pipe == Pipe::scalar;
        for (std::size_t other = 0; other < agents_.size(); ++other) {
            if (other == agent || agents_[other].rank != rank) continue;
            const Item* theirs = item(state, other);
            const bool is_behind = theirs && theirs->order < next->order;
            // Instructions are issued in order, and draining waits for all pipes.
            const bool matters =
                is_scalar ? drains(rank, *next) : agents_[other].pipe == Pipe::scalar;
            if (is_behind && matters) return false;
        }
        const Action* what = action(rank, *next);
        if (!what) return true;
        if (const auto* flag = std::get_if<WaitFlag>(what)) {
            return state.flags.contains({rank, flag->from, flag->to, flag->event});
        }
        const Wait* wait = std::get_if<Wait>(what);
        return !wait || compares(look(state, wait->cell), wait->compare,
                                 value_of(wait->value, wait->cell, next->call));
    }

    // ------------------------------------------------------------------------ accesses

    static void add(std::vector<Access>& list, int buffer, int rank, std::uint64_t offset,
                    std::uint64_t length, bool writes) {
        for (std::uint64_t i = 0; i < length; ++i) {
            list.push_back({{{buffer, rank}, offset + i}, writes});
        }
    }
    static void add(std::vector<Access>& list, const Range& range, bool writes) {
        add(list, range.buffer, range.rank, range.offset, range.length, writes);
    }

    std::vector<Access> accesses(std::size_t rank, const Item& item) const {
        std::vector<Access> list;
        const int me = static_cast<int>(rank);
        if (const Action* what = action(rank, item)) {
            if (const auto* copy = std::get_if<Copy>(what)) {
                add(list, copy->src, false);
                add(list, copy->dst, true);
            } else if (const auto* reduce = std::get_if<Reduce>(what)) {
                for (const Range& source : reduce->src) add(list, source, false);
                add(list, reduce->dst, true);
            } else if (const auto* fill = std::get_if<Map>(what)) {
                add(list, fill->dst, true);
            } else if (const auto* sum = std::get_if<Accumulate>(what)) {
                add(list, sum->dst, true);
                for (Access& access : list) access.adds = sum->element;
                add(list, sum->src, false);
            }
            return list;
        }
        if (item.index == Step::kStages) add(list, kTile, me, 0, plans_[rank].tile_bytes, true);
        for (std::size_t b = 0; b < plans_[rank].buffers.size(); ++b) {
            const Buffer& buffer = plans_[rank].buffers[b];
            if (buffer.kind != BufferKind::argument) continue;
            const bool enters = item.index == Step::kStages;
            if (!enters && buffer.direction == Direction::in) continue;
            add(list, static_cast<int>(b), me, 0, buffer.bytes, enters);
        }
        if (!meaning_) return list;
        if (item.index == Step::kStages) {
            for (const Staged& staged : meaning_->staged) {
                if (staged.rank != me) continue;
                add(list, staged.buffer, me, staged.offset, staged.length, true);
            }
        } else {
            for (const Expected& output : meaning_->outputs) {
                if (output.rank != me) continue;
                add(list, output.buffer, me, output.offset, output.length, false);
            }
        }
        return list;
    }

    void find_races(const State& state) {
        for (std::size_t a = 0; a < agents_.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                if (!enabled(state, a) || !enabled(state, b)) continue;
                const bool one_rank = agents_[a].rank == agents_[b].rank;
                if (conflict(accesses(agents_[a].rank, *item(state, a)),
                             accesses(agents_[b].rank, *item(state, b)))) {
                    kinds_.insert(one_rank ? ViolationKind::pipe_hazard : ViolationKind::data_race);
                }
            }
        }
    }
    static bool conflict(const std::vector<Access>& a, const std::vector<Access>& b) {
        for (const Access& x : a) {
            for (const Access& y : b) {
                const bool both_add = x.adds && x.adds == y.adds;
                if (x.byte == y.byte && (x.writes || y.writes) && !both_add) return true;
            }
        }
        return false;
    }

    // ------------------------------------------------------------------------ execution

    // False: there is no going on from here.
    bool execute(State& state, std::size_t agent) {
        const Item now = *item(state, agent);
        const std::size_t rank = agents_[agent].rank;
        ++state.next[agent];
        const Action* what = action(rank, now);
        if (!what) {
            if (now.index == Step::kStages) {
                stage(state, rank, now);
            } else {
                consume(state, rank, now.call);
            }
        } else if (const auto* copy = std::get_if<Copy>(what)) {
            combine(state, copy->dst, {copy->src});
        } else if (const auto* reduce = std::get_if<Reduce>(what)) {
            combine(state, reduce->dst, reduce->src);
        } else if (const auto* fill = std::get_if<Map>(what)) {
            for (std::uint64_t i = 0; i < fill->dst.length; ++i) {
                state.memory[{{fill->dst.buffer, fill->dst.rank}, fill->dst.offset + i}] = "0";
            }
        } else if (const auto* sum = std::get_if<Accumulate>(what)) {
            accumulate(state, *sum);
        } else if (const auto* notify = std::get_if<Notify>(what)) {
            std::int64_t& cell = state.cells[name_of(notify->cell)];
            const std::int64_t value = value_of(notify->value, notify->cell, now.call);
            cell = notify->op == NotifyOp::set ? value : cell + value;
        } else if (const auto* wait = std::get_if<Wait>(what)) {
            if (is_stale(state, agent, now, *wait)) kinds_.insert(ViolationKind::stale_signal);
        } else if (const auto* set = std::get_if<SetFlag>(what)) {
            if (!state.flags.insert({rank, set->from, set->to, set->event}).second) {
                kinds_.insert(ViolationKind::flag);
                return false;
            }
        } else if (const auto* take = std::get_if<WaitFlag>(what)) {
            state.flags.erase({rank, take->from, take->to, take->event});
        }
        return true;
    }

    std::string read(const State& state, const Range& range, std::uint64_t i) {
        const auto found = state.memory.find({{range.buffer, range.rank}, range.offset + i});
        if (found != state.memory.end()) return found->second;
        kinds_.insert(ViolationKind::unwritten_read);
        return "?";
    }

    void combine(State& state, const Range& dst, const std::vector<Range>& src) {
        std::vector<std::string> bytes;
        for (std::uint64_t i = 0; i < dst.length; ++i) {
            std::string text = read(state, src[0], i);
            for (std::size_t s = 1; s < src.size(); ++s) {
                text = "(" + text + " " + read(state, src[s], i) + ")";
            }
            bytes.push_back(text);
        }
        for (std::uint64_t i = 0; i < dst.length; ++i) {
            // What was never written stays unwritten when it is copied.
            const Byte byte{{dst.buffer, dst.rank}, dst.offset + i};
            if (bytes[i] == "?") {
                state.memory.erase(byte);
            } else {
                state.memory[byte] = bytes[i];
            }
        }
    }

    // Braces tell a sum in the order in which it came to be from one that was asked for. Sums of
    // another type than bytes are no sums of bytes.
    void accumulate(State& state, const Accumulate& sum) {
        for (std::uint64_t i = 0; i < sum.dst.length; ++i) {
            const Byte byte{{sum.dst.buffer, sum.dst.rank}, sum.dst.offset + i};
            const auto found = state.memory.find(byte);
            std::string before = found == state.memory.end() ? "0" : found->second;
            if (found == state.memory.end() && sum.dst.buffer == kTile) {
                kinds_.insert(ViolationKind::unwritten_read);
            }
            std::string text = read(state, sum.src, i);
            if (before != "0") text = before + " " + text;
            if (sum.element != Element::u8) std::replace(text.begin(), text.end(), ' ', '+');
            state.memory[byte] = (sum.element == Element::u8 ? "{" : "{other") + text + "}";
        }
    }

    static std::string leaf(int call, int buffer, int rank, std::uint64_t offset) {
        return "c" + std::to_string(call) + "b" + std::to_string(buffer) + "r" +
               std::to_string(rank) + "o" + std::to_string(offset);
    }

    void stage(State& state, std::size_t rank, const Item& now) {
        for (const Access& access : accesses(rank, now)) {
            const auto& [place, offset] = access.byte;
            if (place.first == kTile) {
                state.memory.erase(access.byte);
                continue;
            }
            const Buffer& buffer = plans_[rank].buffers[static_cast<std::size_t>(place.first)];
            if (buffer.kind == BufferKind::argument && buffer.direction == Direction::out) {
                state.memory.erase(access.byte);
            } else {
                state.memory[access.byte] = leaf(now.call, place.first, place.second, offset);
            }
        }
    }

    static std::vector<std::string> leaves(const std::string& text) {
        std::vector<std::string> list(1);
        for (const char c : text) {
            if (c == '(' || c == ')' || c == '{' || c == '}') continue;
            if (c == ' ') {
                list.emplace_back();
            } else {
                list.back() += c;
            }
        }
        std::sort(list.begin(), list.end());
        return list;
    }

    void consume(State& state, std::size_t rank, int call) {
        if (!meaning_) return;
        for (const Expected& output : meaning_->outputs) {
            if (output.rank != static_cast<int>(rank)) continue;
            for (std::uint64_t i = 0; i < output.length; ++i) {
                const auto found =
                    state.memory.find({{output.buffer, output.rank}, output.offset + i});
                if (found == state.memory.end()) {
                    kinds_.insert(ViolationKind::unwritten_read);
                    continue;
                }
                std::vector<std::string> wanted;
                for (const Contribution& part : *output.of) {
                    wanted.push_back(leaf(call, part.buffer, part.rank, part.offset + i));
                }
                std::sort(wanted.begin(), wanted.end());
                // What should be a copy is one, not the sum of one.
                const bool is_right = wanted.size() == 1 ? found->second == wanted[0]
                                                         : leaves(found->second) == wanted;
                if (!is_right) kinds_.insert(ViolationKind::wrong_result);
            }
        }
    }

    // ------------------------------------------------------------------------ signals

    // The wait asks for no more than a wait of an earlier call did, and passes although no notify
    // of its call has come.
    bool is_stale(const State& state, std::size_t agent, const Item& now, const Wait& wait) const {
        if (wait.value.per_generation != 0 && wait.value.constant <= 0) return false;
        const std::int64_t wanted = value_of(wait.value, wait.cell, now.call);
        if (compares(0, wait.compare, wanted)) return false;
        bool asked = false;
        for (const Item& other : agents_[agent].items) {
            const Action* what = action(agents_[agent].rank, other);
            const Wait* earlier = what ? std::get_if<Wait>(what) : nullptr;
            if (!earlier || other.call >= now.call || earlier->cell != wait.cell) continue;
            asked |= implies(earlier->compare, value_of(earlier->value, earlier->cell, other.call),
                             wait.compare, wanted);
        }
        if (!asked) return false;
        for (std::size_t a = 0; a < agents_.size(); ++a) {
            for (std::size_t i = 0; i < state.next[a]; ++i) {
                const Item& done = agents_[a].items[i];
                const Action* what = action(agents_[a].rank, done);
                const Notify* notify = what ? std::get_if<Notify>(what) : nullptr;
                if (notify && notify->cell == wait.cell && done.call >= now.call) return false;
            }
        }
        return true;
    }
    static bool implies(Compare a, std::int64_t x, Compare b, std::int64_t y) {
        for (std::int64_t value = -100; value <= 100; ++value) {
            if (compares(value, a, x) && !compares(value, b, y)) return false;
        }
        return true;
    }

    // A rank that waits for a flag and for no signal is to blame itself.
    bool find_blocked(const State& state) {
        std::set<std::size_t> by_signal, by_flag;
        for (std::size_t agent = 0; agent < agents_.size(); ++agent) {
            const Item* next = item(state, agent);
            const Action* what = next ? action(agents_[agent].rank, *next) : nullptr;
            if (what && std::holds_alternative<Wait>(*what)) by_signal.insert(agents_[agent].rank);
            if (what && std::holds_alternative<WaitFlag>(*what))
                by_flag.insert(agents_[agent].rank);
        }
        if (by_signal.empty() && by_flag.empty()) return false;
        for (const std::size_t rank : by_signal) by_flag.erase(rank);
        kinds_.insert(by_flag.empty() ? ViolationKind::deadlock : ViolationKind::flag);
        return true;
    }

    void find_bad_end(const State& state) {
        if (find_blocked(state) || calls_ < 2) return;
        for (const auto& [cell, value] : state.cells) {
            bool added = false;
            std::set<std::int64_t> factors;
            for (const Plan& plan : plans_) {
                for (const Instruction& instruction : plan.instructions) {
                    if (const auto* notify = std::get_if<Notify>(&instruction.action)) {
                        added |= name_of(notify->cell) == cell && notify->op == NotifyOp::add;
                    } else if (const auto* wait = std::get_if<Wait>(&instruction.action)) {
                        if (name_of(wait->cell) == cell) factors.insert(wait->value.per_generation);
                    }
                }
            }
            if (!added || factors.size() != 1) continue;
            const auto buffer = static_cast<std::size_t>(cell.first.first);
            if (value != *factors.begin() * calls_ * plans_[0].advance[buffer]) {
                kinds_.insert(ViolationKind::signal_state);
            }
        }
    }

    const std::vector<Plan>& plans_;
    const Meaning* meaning_;
    int calls_;
    std::vector<Agent> agents_;
    std::set<ViolationKind> kinds_;
};

}  // namespace peal::test
