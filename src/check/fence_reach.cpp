// SPDX-License-Identifier: Apache-2.0
#include "check/fence_reach.hpp"

#include <map>
#include <tuple>

namespace peal::checker {
namespace {

using Flag = std::tuple<Pipe, Pipe, std::uint8_t>;

bool is_fence_of_all(const Action& action) {
    const auto* fence = std::get_if<Fence>(&action);
    return fence && fence->group == 0;
}

// What comes before each instruction among the stores of its own rank. A wait_flag may stand before
// its set_flag, so what is known is passed on until nothing is new.
class Reach {
public:
    Reach(const Plan& plan, std::size_t begin, std::size_t end)
        : plan_(plan), begin_(begin), end_(end), known_(end - begin) {
        match_flags();
    }

    std::vector<StoreCounts> run() && {
        while (pass() && has_late_sets_) {
        }
        std::vector<StoreCounts> reach;
        for (std::size_t i = begin_; i < end_; ++i) {
            if (is_fence_of_all(plan_.instructions[i].action)) reach.push_back(known_[i - begin_]);
        }
        return reach;
    }

private:
    static constexpr std::size_t kNever = SIZE_MAX;
    static constexpr auto kScalar = static_cast<std::size_t>(Pipe::scalar);

    // The k-th wait_flag of a flag takes what its k-th set_flag left.
    void match_flags() {
        set_of_.assign(end_ - begin_, kNever);
        std::map<Flag, std::vector<std::size_t>> sets, waits;
        for (std::size_t i = begin_; i < end_; ++i) {
            const Action& action = plan_.instructions[i].action;
            if (const auto* set = std::get_if<SetFlag>(&action)) {
                sets[{set->from, set->to, set->event}].push_back(i);
            } else if (const auto* wait = std::get_if<WaitFlag>(&action)) {
                waits[{wait->from, wait->to, wait->event}].push_back(i);
            }
        }
        for (const auto& [flag, list] : waits) {
            const std::vector<std::size_t>& from = sets[flag];
            for (std::size_t k = 0; k < list.size() && k < from.size(); ++k) {
                set_of_[list[k] - begin_] = from[k] - begin_;
                has_late_sets_ |= from[k] > list[k];
            }
        }
    }

    static bool join(StoreCounts& into, const StoreCounts& from) {
        bool is_new = false;
        for (std::size_t p = 0; p < into.size(); ++p) {
            is_new |= into[p] < from[p];
            into[p] = std::max(into[p], from[p]);
        }
        return is_new;
    }

    // Returns whether somebody learned something.
    bool pass() {
        std::array<StoreCounts, std::tuple_size_v<StoreCounts>> units{};
        bool is_new = false;
        for (std::size_t i = 0; i < known_.size(); ++i) {
            const Instruction& instruction = plan_.instructions[begin_ + i];
            const std::size_t unit = unit_of(instruction);
            StoreCounts& now = units[unit];
            join(now, units[kScalar]);  // issued after it
            if (plan::pipe_of(instruction) == Pipe::all) {
                for (const StoreCounts& other : units) join(now, other);
            }
            if (set_of_[i] != kNever) join(now, known_[set_of_[i]]);
            if (stores_on_pipe(instruction)) ++now[unit];
            is_new |= join(known_[i], now);
        }
        return is_new;
    }

    const Plan& plan_;
    std::size_t begin_, end_;
    std::vector<StoreCounts> known_;  // after each instruction
    std::vector<std::size_t> set_of_;
    bool has_late_sets_ = false;
};

}  // namespace

std::vector<StoreCounts> reach_of_fences(const Plan& plan, std::size_t begin, std::size_t end) {
    return Reach(plan, begin, end).run();
}

}  // namespace peal::checker
