// SPDX-License-Identifier: Apache-2.0
// What the buffers of a plan cannot say: a word is data or a signal, and a kernel begins with empty
// hands.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "plan/access.hpp"
#include "plan/turns.hpp"
#include "pto/callees.hpp"

namespace peal::pto {
namespace {

std::string place_of(const Plan& plan, const Instruction& instruction) {
    return fmt::format("{}, rank {}",
                       plan.source ? plan.source->full_place(instruction.line)
                                   : fmt::format("line {}", instruction.line),
                       plan.rank);
}

// Words of one window that are signals, by their bytes.
class SignalWords {
public:
    explicit SignalWords(const std::vector<WindowUse>& uses) {
        for (const WindowUse& use : uses) {
            if (use.signals != kNoBuffer) add(*use.plans, use.signals);
        }
    }
    void add(const std::vector<Plan>& plans, std::uint16_t signals) {
        for (const Plan& plan : plans) {
            for (const Instruction& instruction : plan.instructions) {
                if (const auto* notify = std::get_if<Notify>(&instruction.action)) {
                    if (notify->cell.buffer != signals) continue;
                    const std::uint64_t at = notify->cell.index * kSignalBytes;
                    const std::uint64_t line = at / kCacheLineBytes * kCacheLineBytes;
                    if (notify->op == NotifyOp::set) {
                        lines_.try_emplace(line, Use{&plan, &instruction});
                    }
                    words_.try_emplace(at, Use{&plan, &instruction});
                } else if (const auto* wait = std::get_if<Wait>(&instruction.action)) {
                    if (wait->cell.buffer != signals) continue;
                    words_.try_emplace(wait->cell.index * kSignalBytes, Use{&plan, &instruction});
                }
            }
        }
    }

    struct Use {
        const Plan* plan = nullptr;
        const Instruction* instruction = nullptr;
    };
    // A signal in these bytes; null: there is none.
    const Use* in(std::uint64_t begin, std::uint64_t end) const {
        return find(words_, kSignalBytes, begin, end);
    }
    // A notify that writes back a line that has some of them.
    const Use* beside(std::uint64_t begin, std::uint64_t end) const {
        return find(lines_, kCacheLineBytes, begin, end);
    }

private:
    using Places = std::map<std::uint64_t, Use>;

    static const Use* find(const Places& places, std::uint64_t width, std::uint64_t begin,
                           std::uint64_t end) {
        const auto found = places.lower_bound(begin < width ? 0 : begin - width + 1);
        return found != places.end() && found->first < end ? &found->second : nullptr;
    }

    Places words_, lines_;
};

// One range of data.
void expect_no_signal(const SignalWords& words, const Plan& plan, const Instruction& instruction,
                      const Range& range, bool is_written) {
    const std::uint64_t end = plan::end_of(range);
    const auto fail = [&](const SignalWords::Use& use, std::string_view how) {
        throw Error(Fault::program,
                    fmt::format("{}: bytes [{}..{}) of {} are data here, and {} ({}): keep data "
                                "and signals apart",
                                place_of(plan, instruction), range.offset, end,
                                plan.buffers[range.buffer].name, how,
                                place_of(*use.plan, *use.instruction)));
    };
    if (const auto* use = words.in(range.offset, end)) fail(*use, "hold a signal");
    const auto* use = is_written ? words.beside(range.offset, end) : nullptr;
    if (use) fail(*use, "lie in the line of a signal that a notify with Set writes back whole");
}

// ---------------------------------------------------------------------------- one kernel after
// another

// One launch at a time: what it has written to tile memory, and the flags that it has set.
class Launch {
public:
    explicit Launch(const Plan& plan) : plan_(plan), written_(plan.tile_bytes, false) {}

    void follow(const Instruction& instruction) {
        plan::for_each_access(
            instruction.action, [&](const Range& range) { read(instruction, range); },
            [&](const Range& range) {
                if (plan::is_tile(range)) mark(range);
            });
        if (const auto* set = std::get_if<SetFlag>(&instruction.action)) {
            flags_.insert_or_assign(std::tuple(set->from, set->to, set->event), &instruction);
        } else if (const auto* wait = std::get_if<WaitFlag>(&instruction.action)) {
            flags_.erase(std::tuple(wait->from, wait->to, wait->event));
        }
    }
    void end() {
        if (!flags_.empty()) {
            throw Error(Fault::program,
                        fmt::format("{}: the flag is still set when the kernel ends, and another "
                                    "kernel of the chip task begins",
                                    place_of(plan_, *flags_.begin()->second)));
        }
        std::fill(written_.begin(), written_.end(), false);
    }

private:
    void read(const Instruction& instruction, const Range& range) const {
        if (!plan::is_tile(range)) return;
        for (std::uint64_t at = range.offset; at < plan::end_of(range); ++at) {
            if (at < written_.size() && written_[at]) continue;
            throw Error(Fault::program,
                        fmt::format("{}: the kernel reads byte {} of tile memory, which it has not "
                                    "written: what an earlier kernel left there does not count",
                                    place_of(plan_, instruction), at));
        }
    }
    void mark(const Range& range) {
        const std::uint64_t end = std::min<std::uint64_t>(plan::end_of(range), written_.size());
        for (std::uint64_t at = range.offset; at < end; ++at) written_[at] = true;
    }

    const Plan& plan_;
    std::vector<bool> written_;
    std::map<std::tuple<Pipe, Pipe, std::uint8_t>, const Instruction*> flags_;
};

}  // namespace

void expect_apart(const std::vector<WindowUse>& uses) {
    const SignalWords words(uses);
    for (const WindowUse& use : uses) {
        for (const Plan& plan : *use.plans) {
            for (const Instruction& instruction : plan.instructions) {
                const auto look = [&](const Range& range, bool is_written) {
                    if (range.buffer != use.window || range.length == 0) return;
                    plan::for_each_turn(range, plan.turns, [&](const Range& moved) {
                        expect_no_signal(words, plan, instruction, moved, is_written);
                    });
                };
                plan::for_each_access(
                    instruction.action, [&](const Range& range) { look(range, false); },
                    [&](const Range& range) { look(range, true); });
            }
        }
    }
}

void expect_separate(const Plan& plan, const std::vector<std::size_t>& launches) {
    if (launches.empty()) return;
    Launch launch(plan);
    std::size_t next = 0;
    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
        if (next < launches.size() && launches[next] == i) {
            launch.end();
            ++next;
        }
        launch.follow(plan.instructions[i]);
    }
}

}  // namespace peal::pto
