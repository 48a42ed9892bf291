// SPDX-License-Identifier: Apache-2.0
// Where the ranks of one contender meet between batches: the harness's own barrier, in a file that
// they all map, so that no library's barrier decides how a batch begins.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace peal::bench {

inline constexpr std::size_t kLine = 64;

// The file's contents; all zero at the start.
struct Hall {
    alignas(kLine) std::atomic<std::uint32_t> arrived;
    alignas(kLine) std::atomic<std::uint32_t> round;
    // Rank 0 says here what the next batch is, before it arrives. Two places in turn: a slow rank
    // may still read the last one.
    alignas(kLine) std::uint64_t notice[2];
    alignas(kLine) std::atomic<std::uint64_t> ball;  // for Task::handoff
};

class Meeting {
public:
    // Maps the file, which exists and has the size of a Hall.
    Meeting(const std::string& path, int nranks);
    ~Meeting();
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

    Hall& hall() const { return *hall_; }

    // Returns when all ranks have called it. Spins while every rank can have a core, else yields.
    void meet();

    // As meet(); all ranks return what rank 0 gave.
    std::uint64_t meet_and_tell(int rank, std::uint64_t notice);

private:
    Hall* hall_ = nullptr;
    std::uint32_t nranks_ = 0;
    int spins_ = 0;
    std::uint32_t told_ = 0;
};

// Creates the file for a Meeting.
void make_hall(const std::string& path);

}  // namespace peal::bench
