// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "base/file.hpp"
#include "shm/inquiry.hpp"

namespace peal::shm {
namespace {

RankState state_of(const World& world, int rank) {
    return world.header().ranks[rank].state.load(std::memory_order_acquire);
}

// As the system sees it: /proc/<pid>/stat has a letter behind the name in parentheses.
std::string_view what_process_does(int pid) {
    const std::string text = base::text_if_there(fmt::format("/proc/{}/stat", pid));
    const std::size_t name_end = text.rfind(") ");
    if (name_end == std::string::npos) return "is gone";
    switch (text[name_end + 2]) {
        case 'R': return "runs";
        case 'T':
        case 't': return "is stopped";
        case 'Z':
        case 'X': return "is gone";
        default: return "sleeps";
    }
}

std::string standing(const World& world, int rank, std::uint32_t inquiry) {
    switch (state_of(world, rank)) {
        case RankState::absent: return "has not connected";
        case RankState::left: return "has left";
        case RankState::dead: return "has died";
        case RankState::here: break;
    }
    if (const auto told = answer_of(world, rank, inquiry)) return *told;
    const int pid = world.header().ranks[rank].pid.load(std::memory_order_relaxed);
    return fmt::format("waits in no call (process {} {})", pid, what_process_does(pid));
}

}  // namespace

bool is_awaited(const World& world, std::uint32_t inquiry) {
    for (int rank = 0; rank < world.nranks(); ++rank) {
        const bool is_here = state_of(world, rank) == RankState::here;
        if (is_here && !answer_of(world, rank, inquiry)) return true;
    }
    return false;
}

std::string standings(const World& world, std::uint32_t inquiry, int first, int count) {
    std::string text = "who waits for whom:";
    for (int rank = first; rank < first + count; ++rank) {
        text += fmt::format("\n  rank {}: {}", rank, standing(world, rank, inquiry));
    }
    return text;
}

}  // namespace peal::shm
