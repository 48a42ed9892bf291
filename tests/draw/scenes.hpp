// SPDX-License-Identifier: Apache-2.0
// Violations written by hand, with the plans that they are about.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "check/plans.hpp"
#include "draw/diagram.hpp"

namespace peal::test {

struct Scene {
    explicit Scene(int nranks, const std::string& kernel = "test") : plans(nranks, kernel) {}

    // Adds a step to the schedule; returns its position.
    std::int32_t step(std::int32_t call, std::int32_t rank, std::int32_t index,
                      std::int32_t released_by = -1) {
        violation.schedule.push_back({call, 0, rank, index, released_by});
        return static_cast<std::int32_t>(violation.schedule.size()) - 1;
    }
    void involve(std::int32_t call, std::int32_t rank, std::int32_t index) {
        violation.steps.push_back({call, 0, rank, index, -1});
    }
    draw::Diagram diagram() const {
        return draw::diagram_of(violation, {{&plans.list(), nullptr, {}}});
    }

    Plans plans;
    Violation violation;
};

// A mesh allreduce whose window is staged again while rank 0 still reads it: nobody says "I am
// done".
//   0 copy data <- inp   1.. notify every peer   then wait for every peer   last: reduce
inline Scene overwritten_window(int nranks) {
    Scene scene(nranks, "mesh_allreduce");
    const auto inp = scene.plans.argument("inp", Direction::in, 64);
    const auto out = scene.plans.argument("out", Direction::out, 64);
    const auto data = scene.plans.window("data", 64);
    const auto sig = scene.plans.signal("sig", static_cast<std::uint64_t>(nranks), 1);
    for (int rank = 0; rank < nranks; ++rank) {
        RankPlan plan = scene.plans.on(rank);
        plan.copy(plan.in(data, 0, 64), plan.in(inp, 0, 64));
        for (int peer = 0; peer < nranks; ++peer) {
            if (peer != rank) plan.increase(sig, peer, static_cast<std::uint64_t>(rank), fixed(1));
        }
        for (int peer = 0; peer < nranks; ++peer) {
            if (peer != rank) plan.wait(sig, static_cast<std::uint64_t>(peer), now(1));
        }
        std::vector<Range> sources;
        for (int peer = 0; peer < nranks; ++peer) sources.push_back(plan.at(peer, data, 0, 64));
        plan.reduce(plan.in(out, 0, 64), sources);
    }
    const int peers = nranks - 1;
    const int reduce = 1 + 2 * peers;
    // Everybody rings rank 0 and the last rank; the last rank then runs ahead into its next call.
    std::vector<std::int32_t> to_first(static_cast<std::size_t>(nranks));
    std::vector<std::int32_t> to_last(static_cast<std::size_t>(nranks));
    const int last = nranks - 1;
    for (int rank = 0; rank < nranks; ++rank) {
        scene.step(0, rank, Step::kStages);
        scene.step(0, rank, 0);
        for (int notify = 1; notify <= peers; ++notify) {
            const int peer = notify - 1 < rank ? notify - 1 : notify;
            const std::int32_t at = scene.step(0, rank, notify);
            if (peer == 0) to_first[static_cast<std::size_t>(rank)] = at;
            if (peer == last) to_last[static_cast<std::size_t>(rank)] = at;
        }
    }
    for (int peer = 1; peer < nranks; ++peer) {
        scene.step(0, 0, peers + peer, to_first[static_cast<std::size_t>(peer)]);
    }
    for (int peer = 0; peer < last; ++peer) {
        scene.step(0, last, peers + peer + 1, to_last[static_cast<std::size_t>(peer)]);
    }
    scene.step(0, last, reduce);
    scene.step(0, last, Step::kConsumes);
    scene.step(1, last, Step::kStages);
    scene.step(0, 0, reduce);
    scene.step(1, last, 0);
    scene.involve(0, 0, reduce);
    scene.involve(1, last, 0);
    scene.violation.kind = ViolationKind::data_race;
    scene.violation.memory = "data@" + std::to_string(last) + "[0..64)";
    scene.violation.message =
        "rank 0 (`reduce sum f32 out[0..64) <- data[0..64), ...`, line 6, call 0) reads and rank " +
        std::to_string(last) + " (`copy data[0..64) <- inp[0..64)`, line 2, call 1) writes " +
        scene.violation.memory + ", and nothing orders them";
    return scene;
}

// Each rank waits for the one before it, and then rings the next: nobody begins.
inline Scene ring_deadlock(int nranks) {
    Scene scene(nranks, "ring");
    const auto sig = scene.plans.signal("sig", 1, 1);
    for (int rank = 0; rank < nranks; ++rank) {
        scene.plans.on(rank).wait(sig, 0, now(1)).increase(sig, (rank + 1) % nranks, 0, fixed(1));
    }
    for (int rank = 0; rank < nranks; ++rank) scene.involve(0, rank, 0);
    scene.violation.kind = ViolationKind::deadlock;
    scene.violation.message = "nobody can go on: rank 0 (`wait sig[0] >= generation + 1`) sees 0";
    return scene;
}

}  // namespace peal::test
