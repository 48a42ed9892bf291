// SPDX-License-Identifier: Apache-2.0
// What one rank does in the memory of ranks on other hosts: what of it is under way, and what must
// be complete before somebody is told. Nothing here waits: whoever must wait does so until
// is_over().
//
// The order that plans rely on: whoever hears a notify, or hears of it from another, finds all that
// its sender put anywhere before. The net keeps less: of what goes to one rank, a fence makes the
// first come first. So
//
//   a notify to the one rank that has been put to comes behind a fence. Two forms: what is told is
//   put, or added, behind the fence; or the put carries it in the last word of the same line, where
//   a line arrives as a whole (Net::keeps_lines).
//
//   a notify to anybody else comes after a flush of all others that have been put to:
//   begin_telling().
//
//   a put comes behind a fence of the net where a fence of the plan has passed and nobody has been
//   told since; so does every fetch from who has been put to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "hosts/job.hpp"
#include "peal/limits.hpp"

namespace peal::comm {

class FarMemory {
public:
    // `has_others`: whoever is told is not the only other member. Then what is put to it is asked
    // for at once, since somebody else may be told next.
    FarMemory(hosts::Job& job, bool has_others) : job_(job), has_others_(has_others) {}

    // Nothing that was begun here is under way. If something went wrong with a rank that has been
    // put to or fetched from, trouble() says which.
    bool is_over() const { return flight_.is_over(); }

    // ---- data. `mirror` is where it is in the mirror of its owner's memory.

    void fetch(std::byte* to, const std::byte* mirror, std::uint64_t bytes);
    // Complete by the next fence of the group, for what is put there later and as is said above for
    // who is told.
    void put(std::byte* mirror, const std::byte* from, std::uint64_t bytes, std::uint16_t group);
    void fence(std::uint16_t group);
    // The same for bytes of a line that is this rank's alone, up to the cell at its end: they may
    // wait for the cell and go with it.
    void put_in_line(std::byte* mirror, const std::byte* from, std::uint64_t bytes,
                     std::uint16_t group);
    // The call is over: what waits for a cell goes without it, and no fence will come.
    void end_call();
    // Whether what is under way comes from there.
    bool uses(const std::byte* begin, std::uint64_t bytes) const;

    // ---- telling

    // Of the rank, in the world, whose memory this is the mirror of.
    int owner_of(const std::byte* mirror) const;
    // Before that rank is told, all that was put to others must be complete: asks for it. Nobody: a
    // rank of this host.
    static constexpr int kNobody = -1;
    void begin_telling(int rank);
    bool is_complete_but(int rank) const;
    void end_telling(int rank);
    // A cell, with what is written before it: at most a line.
    void set(std::byte* mirror, const void* bytes, std::uint64_t count);
    // All that the rank has been told is there when this is over.
    void flush(int rank) { job_.net().flush(flight_, rank); }
    // To a cell of 4 or 8 bytes; before() is what it was, once this is over.
    void add(std::byte* mirror, std::int64_t value, int bytes);
    std::int64_t before() const { return before_; }

    // A rank that was put to or fetched from and cannot be reached any more, and why.
    std::optional<std::pair<int, std::string>> trouble() const;

private:
    using Line = std::array<std::byte, kCacheLineBytes>;
    struct Source {
        const std::byte* begin;
        const std::byte* end;
    };
    // Bytes [begin, end) of a line that waits for its cell.
    struct Waiting {
        std::byte* mirror;  // of the line
        int rank;
        std::uint64_t begin, end;
        Line bytes;
    };
    // A rank that has been put to, and perhaps a flush of all that.
    struct Target {
        int rank;
        std::optional<hosts::Flight> flush;

        bool is_complete() const { return flush && flush->is_over(); }
    };
    hosts::Mirrors::RemoteAddress address_of(const std::byte* mirror);
    void note_put(int rank);
    void ask_for(Target& target);
    void fence_net();
    // Kept until it is gone. `flushed`: with a flush, which is over then; null: without.
    void put_copy(std::byte* mirror, const void* bytes, std::uint64_t count,
                  const hosts::Flight* flushed = nullptr);
    const hosts::Flight* flush_behind(int rank);
    template <class Which>
    void let_go_if(Which&& which);
    // What nothing is under way of any more needs not be kept.
    void tidy() {
        if (sources_.empty() && kept_.empty()) return;
        if (!is_over()) return;
        sources_.clear();
        kept_.clear();
    }

    hosts::Job& job_;
    const bool has_others_;
    hosts::Flight flight_;
    std::vector<Source> sources_;  // of puts under way
    std::deque<Line> kept_;        // what is told, until it is gone
    std::int64_t before_ = 0;      // the last add
    std::vector<Waiting> waiting_;
    std::vector<Target> put_to_;                              // and not known to be complete
    std::vector<std::pair<std::uint16_t, int>> deferred_to_;  // by group, before its fence
    // What is put next comes behind a fence of the net: something was put, and a fence of the plan
    // has passed, since the last one and since anybody was told.
    bool must_fence_ = false;
    std::vector<int> used_;  // ranks, ever
};

}  // namespace peal::comm
