// SPDX-License-Identifier: Apache-2.0
#include "shm/inquiry.hpp"

#include "shm/shared_text.hpp"

namespace peal::shm {

std::uint32_t ask(World& world) {
    const std::uint32_t inquiry =
        world.header().inquiry.fetch_add(1, std::memory_order_acq_rel) + 1;
    for (int rank = 0; rank < world.nranks(); ++rank) world.wake(rank);
    return inquiry;
}

void answer(World& world, int rank, std::string_view text) {
    RankRecord& record = world.header().ranks[rank];
    const std::uint32_t inquiry = world.header().inquiry.load(std::memory_order_acquire);
    std::uint32_t before = record.answers.load(std::memory_order_relaxed);
    const bool is_first = before != inquiry && record.answers.compare_exchange_strong(
                                                   before, inquiry, std::memory_order_acq_rel);
    if (!is_first) return;
    put(world.header().answers[rank], text);
    record.answered.store(inquiry, std::memory_order_release);  // pairs with answer_of()
}

std::optional<std::string> answer_of(const World& world, int rank, std::uint32_t inquiry) {
    const std::uint32_t answered =
        world.header().ranks[rank].answered.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(answered - inquiry) < 0) return std::nullopt;
    return std::string(text_of(world.header().answers[rank]));
}

}  // namespace peal::shm
