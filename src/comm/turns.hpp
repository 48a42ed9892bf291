// SPDX-License-Identifier: Apache-2.0
// Which memory a call uses, and when the ranks must meet first so that it is free.
//
// Calls of a communicator are numbered: turn 0, 1, 2, ... the same on every rank. Turn t uses slot
// t mod the number of slots, which holds a line per writer: the signal cell, and room for a small
// payload. A call that stages data also takes bytes from a ring. Recipes that end without a closing
// sync leave both in use until every rank has returned from the call. What is known about that:
//
//   In a call in which every rank hears from every other (a *full* one), whoever returns from turn
//   t knows that all ranks have entered it, so all have returned from the turns before it.
//
//   The same is known when, in turns from t on, everybody has heard from every rank in its turn as
//   a root, or every rank has, as a root, heard from everybody.
//
// So memory of turn u may be used again once that holds of a turn later than u. If it does not, the
// ranks meet (a barrier, a full turn of its own) before the call. Every rank makes the same calls,
// hence the same decisions, without a word being exchanged.
//
// This class is pure arithmetic; tests/comm proves sequences of plans placed by it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace peal::comm {

// Who hears from whom in a call.
enum class SyncPattern : std::uint8_t {
    all_from_all,   // a full turn
    all_from_root,  // and perhaps the root from them
    root_from_all,
    all_from_below,  // each rank from those before it: all from rank 0, and the last from all
};

class Turns {
public:
    static constexpr std::uint64_t kSlots = 16;  // unless said
    static constexpr std::uint64_t kMostSlots = 32;

    // `slots` is a power of two.
    Turns(std::uint64_t ring_bytes, int nranks, std::uint64_t slots = kSlots)
        : slots_(slots),
          ring_bytes_(ring_bytes),
          heard_(static_cast<std::size_t>(nranks)),
          was_heard_(static_cast<std::size_t>(nranks)) {}

    struct Turn {
        std::uint64_t number = 0;
        std::uint64_t slot = 0;
        std::uint64_t ring_offset = 0;
    };

    // Whether the ranks must meet before a call that stages this many bytes (at most half of the
    // ring). A slot is kept back so that there is always room for the meeting.
    [[gnu::always_inline]] bool must_meet(std::uint64_t bytes) {
        if (has_room(bytes)) [[likely]]
            return false;
        complete_ = std::max({complete_, earliest(heard_), earliest(was_heard_)});
        return !has_room(bytes);
    }

    [[gnu::always_inline]] Turn take(std::uint64_t bytes) {
        const std::uint64_t begin = begin_of(bytes);
        const Turn turn{next_, slot_of(next_), bytes == 0 ? 0 : begin % ring_bytes_};
        begin_[turn.slot] = begin;
        head_ = begin + bytes;
        ++next_;
        return turn;
    }

    // A turn is over. `root` counts where there is one.
    [[gnu::always_inline]] void over(std::uint64_t turn, SyncPattern sync, int root) {
        if (sync == SyncPattern::all_from_all) [[likely]] {
            complete_ = turn;
            have_met_ = true;
        } else if (sync == SyncPattern::all_from_below) {
            was_heard_.front() = heard_.back() = turn;
        } else {
            auto& list = sync == SyncPattern::all_from_root ? was_heard_ : heard_;
            list[static_cast<std::size_t>(root)] = turn;
        }
    }
    // Whether there has been a full turn: all ranks are known to have come.
    bool have_met() const { return have_met_; }

    std::uint64_t next() const { return next_; }
    std::uint64_t slot_of(std::uint64_t turn) const { return turn & (slots_ - 1); }

private:
    [[gnu::always_inline]] bool has_room(std::uint64_t bytes) const {
        if (next_ - complete_ >= slots_ - 1) return false;
        if (bytes == 0) [[likely]]
            return true;
        const std::uint64_t oldest = complete_ == next_ ? head_ : begin_[slot_of(complete_)];
        return begin_of(bytes) + bytes - oldest <= ring_bytes_;
    }
    static std::uint64_t earliest(const std::vector<std::uint64_t>& turns) {
        return *std::min_element(turns.begin(), turns.end());
    }
    // Where the next bytes begin, counted since the start; they do not wrap around.
    [[gnu::always_inline]] std::uint64_t begin_of(std::uint64_t bytes) const {
        if (bytes == 0) [[likely]]  // most calls: a division is long
            return head_;
        const std::uint64_t at = head_ % ring_bytes_;
        return at + bytes <= ring_bytes_ ? head_ : head_ + (ring_bytes_ - at);
    }

    std::uint64_t slots_, ring_bytes_;
    std::uint64_t next_ = 0;      // the next turn
    std::uint64_t complete_ = 0;  // all ranks have returned from turns before this one
    bool have_met_ = false;
    // By rank: the last turn in which it was the root, and heard from all; and was heard by all. (0
    // says that all ranks have returned from the turns before turn 0.)
    std::vector<std::uint64_t> heard_, was_heard_;
    std::uint64_t head_ = 0;  // bytes taken so far, with what was skipped at the ring's end
    std::array<std::uint64_t, kMostSlots> begin_{};  // by slot: where the turn's bytes begin
};

}  // namespace peal::comm
