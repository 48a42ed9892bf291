// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <iostream>

#include "peal/error.hpp"
#include "shm/process_memory.hpp"
#include "shm/ranks.hpp"
#include "shm/story.hpp"
#include "shm/supervise.hpp"

namespace peal::shm {
namespace {

int status_for(Fault fault) {
    switch (fault) {
        case Fault::usage:
        case Fault::program:
        case Fault::resource: return 2;
        default: return 1;
    }
}

void flush_streams() {
    std::cout.flush();
    std::clog.flush();
    std::fflush(nullptr);
}

int fail(World& world, int rank, const char* message, int status) {
    const bool is_first = claim_story(world, rank);
    world.raise_alarm(rank);
    if (is_first) fmt::print(stderr, "rank {}: {}\n", rank, message);
    return status;
}

int run_rank(const std::shared_ptr<World>& world, int rank, const RankBody& body) {
    try {
        admit_siblings();
        world->enter(rank);
        body(world, rank);
        world->leave(rank);
        return 0;
    } catch (const Error& error) {
        return fail(*world, rank, error.what(), status_for(error.fault()));
    } catch (const std::exception& error) {
        return fail(*world, rank, error.what(), 1);
    } catch (...) {
        return fail(*world, rank, "an exception that is not a std::exception", 1);
    }
}

}  // namespace

int fork_ranks(int nranks, const RankBody& body, const std::function<void()>& started) {
    const std::shared_ptr<World> world = World::create(nranks);
    Supervisor supervisor(world);
    flush_streams();  // or every child would write what waits in the buffers
    for (int rank = 0; rank < nranks; ++rank) {
        supervisor.start([&] {
            const int status = run_rank(world, rank, body);
            flush_streams();
            return status;
        });
    }
    if (started) started();
    return supervisor.wait().status;
}

}  // namespace peal::shm
