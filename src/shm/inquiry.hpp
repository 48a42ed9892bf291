// SPDX-License-Identifier: Apache-2.0
// Asking all ranks of a world where they stand. Inquiries are numbered; a rank that waits in a call
// sees a new one when it looks around, and leaves its answer in shared memory. Ranks that are in no
// call do not answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shm/world.hpp"

namespace peal::shm {

// Rings everybody; returns the number of the inquiry.
std::uint32_t ask(World& world);

// Whether this rank has not answered the last inquiry.
inline bool is_asked(const World& world, int rank) {
    return world.header().inquiry.load(std::memory_order_acquire) !=
           world.header().ranks[rank].answers.load(std::memory_order_relaxed);
}
// Of several threads that answer for one rank the first is heard. A long text is cut.
void answer(World& world, int rank, std::string_view text);

// What the rank has answered to this inquiry, or to a later one.
std::optional<std::string> answer_of(const World& world, int rank, std::uint32_t inquiry);

// Whether a rank is here that has not answered yet.
bool is_awaited(const World& world, std::uint32_t inquiry);

// `who waits for whom:`, and a line or more for each of these ranks.
std::string standings(const World& world, std::uint32_t inquiry, int first, int count);

}  // namespace peal::shm
