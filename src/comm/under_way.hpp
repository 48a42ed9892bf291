// SPDX-License-Identifier: Apache-2.0
// What one rank has under way on a communicator.
//
// Its collectives are carried out one after the other; so are its messages to one rank, and those
// from it. These are queues of their own, since none of them may wait for another: two ranks that
// first start to receive and then to send would wait for ever. Whoever waits for one queue carries
// on the others meanwhile.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hosts/net.hpp"

namespace peal::comm {

class Queue;
struct CallAtHand;

class UnderWay {
public:
    // A queue has begun a call, and has none any more. `call` is the one that it is in.
    void add(const CallAtHand& call, Queue& queue) { entries_.push_back({&call, &queue}); }
    void remove(const Queue& queue) {
        std::erase_if(entries_, [&](const Entry& entry) { return entry.queue == &queue; });
    }

    // ---- for who is in the call `mine`

    bool has_others(const CallAtHand& mine) const {
        return !entries_.empty() && (entries_.size() > 1 || entries_.front().call != &mine);
    }
    // Carries on the others as far as they can; throws what goes wrong there.
    void go_on(const CallAtHand& mine);
    bool can_go_on(const CallAtHand& mine) const;
    // Diagnosis::look_for_members() of the others.
    void look_for_members(const CallAtHand& mine) const;
    // Where the others stand: "" if there are none.
    std::string standings(const CallAtHand& mine) const;

    // ---- what counts for all of them

    std::optional<std::string> broken;     // by what
    std::chrono::milliseconds timeout{0};  // zero: a wait may take any time
    std::function<void()> watch;  // asked by who looks around; what it throws ends the call for all

    // What this rank is in, as errors say it, while it is in no call of its own.
    struct Opening {
        Opening(UnderWay& of, std::string what) : under_way(of) {
            under_way.opening = std::move(what);
        }
        ~Opening() { under_way.opening.clear(); }
        Opening(const Opening&) = delete;
        Opening& operator=(const Opening&) = delete;
        UnderWay& under_way;
    };
    std::string opening;

    void ask_watch() {
        asked_here_ = this;
        const struct End {
            ~End() { asked_here_ = nullptr; }
        } end;
        watch();
    }
    // This thread is in the watch: it is in the middle of a call, and yet no other thread.
    bool is_asked_here() const { return asked_here_ == this; }

    // ---- for deadlocks between hosts

    // Where this rank stands still: what it had told ranks on other hosts until then.
    struct Told {
        std::uint64_t standstill;
        hosts::Flight flushed;
    };
    std::optional<Told> told;
    // Of the first member: what it found of all members when it asked, and how often it has.
    struct Question {
        std::vector<std::uint64_t> standstills;
        int times;
    };
    std::optional<Question> question;

private:
    friend class Use;
    struct Entry {
        const CallAtHand* call;
        Queue* queue;
    };
    template <class Each>
    void for_each_other(const CallAtHand& mine, Each&& each) const;
    [[noreturn]] void refuse() const;

    static inline thread_local const UnderWay* asked_here_ = nullptr;
    static constexpr char kSeveral = 0;  // its address: several threads have been here at once
    std::vector<Entry> entries_;
    std::atomic<const char*> user_ = nullptr;  // the call under way
};

// A call of one thread, as long as it exists. Throws Error(usage) if a call of another thread is
// under way, which then goes on.
//
// Nothing but loads and stores of one word: an exchange would wait until the last ring has left
// this core. So two calls that begin within the same few nanoseconds both pass; that is noticed
// when the first of them ends, and told by the next call on the communicator.
class Use {
public:
    // Has looked, and found nobody.
    class Look {
    public:
        explicit Look(UnderWay& under_way) : under_way_(under_way) {
            if (under_way.user_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
                under_way.refuse();
        }

    private:
        friend class Use;
        UnderWay& under_way_;
    };

    [[gnu::always_inline]] explicit Use(UnderWay& under_way) : Use(Look(under_way)) {}
    [[gnu::always_inline]] explicit Use(const Look& look) : under_way_(look.under_way_) {
        under_way_.user_.store(&self_, std::memory_order_relaxed);
    }
    [[gnu::always_inline]] ~Use() {
        const bool is_alone = under_way_.user_.load(std::memory_order_relaxed) == &self_;
        under_way_.user_.store(is_alone ? nullptr : &UnderWay::kSeveral, std::memory_order_relaxed);
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

private:
    UnderWay& under_way_;
    char self_ = 0;  // its address is what tells uses apart
};

}  // namespace peal::comm
