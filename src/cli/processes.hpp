// SPDX-License-Identifier: Apache-2.0
// Plans carried out in processes, one rank each.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cli/rank_work.hpp"
#include "golden/rehearse.hpp"
#include "peal/communicator.hpp"
#include "peal/plan.hpp"

namespace peal::cli {

// Pages that this process shares with those that it forks from now on; zeroed.
class SharedPages {
public:
    explicit SharedPages(std::size_t bytes);
    ~SharedPages();
    SharedPages(const SharedPages&) = delete;
    SharedPages& operator=(const SharedPages&) = delete;
    std::byte* at(std::size_t offset) const { return base_ + offset; }

private:
    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;
};

class ProcessStage {
public:
    explicit ProcessStage(const std::vector<Plan>& plans);

    // What is wrong on the first rank that found something, and the slowest rank's fastest call.
    // When a rank fails it says so on stderr, and an Error follows here.
    golden::Outcome run(const RankWork& work);

    // A private buffer of a rank, also after the run.
    std::byte* argument(int rank, std::size_t buffer) const;

private:
    struct Note;  // from a rank to this process

    void carry_out(Communicator& comm, const RankWork& work) const;
    Note& note(int rank) const;

    const std::vector<Plan>& plans_;
    std::vector<std::vector<std::size_t>> offsets_;  // by rank, then buffer
    std::optional<SharedPages> pages_;
};

}  // namespace peal::cli
