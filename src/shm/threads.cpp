// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <exception>
#include <thread>
#include <vector>

#include "base/thread.hpp"
#include "peal/error.hpp"
#include "shm/ranks.hpp"

namespace peal::shm {
namespace {

std::exception_ptr failure_of(const std::shared_ptr<World>& world, int rank, const RankBody& body) {
    try {
        world->enter(rank);
        body(world, rank);
        world->leave(rank);
        return nullptr;
    } catch (...) {
        world->raise_alarm(rank);
        return std::current_exception();
    }
}

// The others fail because one has failed; that one's story is told.
void rethrow_first(const World& world, const std::vector<std::exception_ptr>& failures) {
    const int first = world.failed_rank();
    if (first >= 0 && failures[first]) std::rethrow_exception(failures[first]);
    for (const std::exception_ptr& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
}

}  // namespace

void run_threads(int nranks, const RankBody& body) {
    const std::shared_ptr<World> world = World::create(nranks);
    std::vector<std::exception_ptr> failures(nranks);
    std::vector<std::thread> threads;
    threads.reserve(nranks);
    for (int rank = 0; rank < nranks; ++rank) {
        try {
            threads.push_back(
                base::start_thread(fmt::format("rank {} of {} as a thread", rank, nranks),
                                   [&, rank] { failures[rank] = failure_of(world, rank, body); }));
        } catch (const Error&) {
            failures[rank] = std::current_exception();
            world->raise_alarm(rank);
            break;
        }
    }
    for (std::thread& thread : threads) thread.join();
    rethrow_first(*world, failures);
}

}  // namespace peal::shm
