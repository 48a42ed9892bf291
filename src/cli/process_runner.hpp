// SPDX-License-Identifier: Apache-2.0
// Plans carried out in processes, one rank each.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cli/runner.hpp"
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

class ProcessRunner : public Runner {
public:
    explicit ProcessRunner(const std::vector<Plan>& plans);

    // The time is that of the slowest rank. When a rank fails it says so on stderr, and an Error
    // follows here.
    golden::Outcome run(const RankWork& work) override;

    std::byte* argument(int rank, std::size_t buffer) override;

private:
    struct Note;  // from a rank to this process

    void carry_out(Communicator& comm, const RankWork& work);
    Note& note(int rank) const;

    const std::vector<Plan>& plans_;
    std::vector<std::vector<std::size_t>> offsets_;  // by rank, then buffer
    std::optional<SharedPages> pages_;
};

}  // namespace peal::cli
