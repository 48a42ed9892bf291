// SPDX-License-Identifier: Apache-2.0
#include "shm/story.hpp"

#include <cstdlib>
#include <exception>
#include <utility>

#include "peal/error.hpp"

namespace peal::shm {
namespace {

// Of this process, once it tells its uncaught errors.
struct Teller {
    std::shared_ptr<World> world;
    int rank = -1;
    std::terminate_handler otherwise = nullptr;
};
Teller& teller() {
    static auto* const one = new Teller;  // is there until the very end
    return *one;
}

[[noreturn]] void tell_and_abort() {
    try {
        if (const std::exception_ptr error = std::current_exception()) {
            std::rethrow_exception(error);
        }
    } catch (const Error& error) {
        tell_story(*teller().world, teller().rank, error.what());
        std::abort();
    } catch (...) {  // not ours to tell
    }
    teller().otherwise();
    std::abort();
}

}  // namespace

bool claim_story(World& world, int rank) {
    WorldHeader& header = world.header();
    header.ranks[rank].has_told.store(true, std::memory_order_relaxed);
    std::int32_t nobody = 0;
    return header.teller.compare_exchange_strong(nobody, 1 + rank, std::memory_order_acq_rel);
}

void tell_story(World& world, int rank, std::string_view error) {
    if (!claim_story(world, rank)) return;
    put(world.header().story, error);
    world.header().is_told.store(true, std::memory_order_release);  // pairs with story_of()
}

std::optional<Story> story_of(const World& world) {
    const WorldHeader& header = world.header();
    if (!header.is_told.load(std::memory_order_acquire)) return std::nullopt;
    return Story{header.teller.load(std::memory_order_relaxed) - 1,
                 std::string(text_of(header.story))};
}

void tell_uncaught_errors(std::shared_ptr<World> world, int rank) {
    teller() = {std::move(world), rank, std::set_terminate(tell_and_abort)};
}

}  // namespace peal::shm
