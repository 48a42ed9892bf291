// SPDX-License-Identifier: Apache-2.0
// Any number of calls: a run that stands after two rounds of calls in a row where it stood before,
// one round later, repeats itself for ever. docs/proof.md has the theorem.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/causal_run.hpp"
#include "check/history.hpp"
#include "check/memory.hpp"
#include "check/model.hpp"

namespace peal::checker {

class Repetition {
public:
    // The model has two rounds of calls or more. Where calls take turns, a round here is as many
    // as it takes until all turns come again.
    explicit Repetition(const Model& model);

    // Everybody has come to the end of a round, and nothing was wrong up to there. To be called
    // after each round in turn, until it says that all later rounds are like the last.
    bool repeats(std::uint32_t rounds, const CausalRun& run, AccessHistory& history,
                 const SymbolicMemory& memory, TermTable& terms);

    // One sentence; empty if it repeats, or was not asked often enough to know.
    const std::string& why_not() const { return why_not_; }
    // After more rounds it may yet.
    bool may_settle() const { return may_settle_; }
    // When it repeats: so many rounds fit the cells; 0: any number.
    std::uint64_t rounds_that_fit() const { return rounds_that_fit_; }
    std::uint64_t memory_bytes() const;

private:
    using Windows = std::vector<std::pair<RegionId, std::vector<Piece>>>;

    // Where the run stands, up to the number of the round.
    struct Standing {
        std::vector<std::uint64_t> signals, accesses;
        Windows windows;
    };

    void follow_cells();
    void follow(Event before, Event after);
    void give_up(std::string why);
    bool is_settled(std::uint32_t round) const;
    bool holds_the_same(const Standing& now, TermTable& terms);
    void count_rounds_that_fit(std::uint32_t rounds, const CausalRun& run);
    std::uint64_t rounds_that_fit(CellId cell, std::uint32_t rounds, const CausalRun& run) const;
    std::optional<std::uint64_t> rounds_behind(const CellInfo& cell, const CausalRun& run) const;

    // By cell: what is known of one round.
    struct Growth {
        bool known = false;
        std::int64_t by = 0;    // what waits and sets grow by; without waits, at most
        std::int64_t down = 0;  // without waits: at least
        bool is_awaited = false;
        std::int64_t least_wait = 0;        // in the last round of the model
        std::int64_t added = 0, taken = 0;  // in one round
    };

    const Model& model_;
    std::uint32_t round_;   // calls in one
    std::uint32_t rounds_;  // of the model
    std::vector<Growth> growth_;
    std::vector<std::uint32_t> ops_per_round_;  // by agent
    Standing before_;
    std::uint32_t rounds_before_ = 0;
    bool is_alike_ = true;  // all rounds are, as far as they can be compared
    std::string why_not_;
    bool may_settle_ = false;
    std::uint64_t rounds_that_fit_ = 0;
};

}  // namespace peal::checker
