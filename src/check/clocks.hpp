// SPDX-License-Identifier: Apache-2.0
// Vector clocks. The time of an agent is the number of ops it has carried out; its clock says for
// every agent how many of that agent's ops are known to come before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "check/model.hpp"

namespace peal::checker {

// The op of `agent` that ended at `time`. Time 0: none.
struct Epoch {
    AgentId agent = 0;
    std::uint32_t time = 0;

    Event event() const { return {agent, time - 1}; }
    bool operator==(const Epoch&) const = default;
};

class Clocks {
public:
    using SnapshotId = std::uint32_t;

    explicit Clocks(std::size_t agents)
        : agents_(agents), rows_(agents * agents, 0), current_(agents, kNone) {}

    void tick(AgentId agent) { ++rows_[agent * agents_ + agent]; }
    Epoch now(AgentId agent) const { return {agent, rows_[agent * agents_ + agent]}; }
    std::span<const std::uint32_t> row(AgentId agent) const {
        return {rows_.data() + agent * agents_, agents_};
    }
    // Whether `epoch` comes before what `agent` does next.
    bool knows(AgentId agent, Epoch epoch) const {
        return rows_[agent * agents_ + epoch.agent] >= epoch.time;
    }

    // How many ops ago its agent carried it out, the last one being 1; 0: never.
    std::uint32_t ago(Epoch epoch) const {
        return epoch.time == 0 ? 0 : now(epoch.agent).time - epoch.time + 1;
    }
    std::size_t agents() const { return agents_; }
    // By agent: how many of its ops everybody knows.
    std::vector<std::uint32_t> known_to_all() const;

    // What the agent knows, for others to join later. Snapshots taken without a join in between
    // share their memory: they differ in the agent's own time only, which the joiner is given.
    // Each must be released.
    SnapshotId snapshot(AgentId agent);
    void release(SnapshotId id);
    void join(AgentId agent, SnapshotId id, Epoch notify);
    // But for the time of the agent that it is of.
    std::span<const std::uint32_t> known_in(SnapshotId id) const {
        return {pool_.data() + std::size_t{id} * agents_, agents_};
    }

private:
    std::uint32_t* words(SnapshotId id) { return pool_.data() + std::size_t{id} * agents_; }
    void drop_current(AgentId agent);

    std::size_t agents_;
    std::vector<std::uint32_t> rows_;
    std::vector<SnapshotId> current_;  // by agent: the snapshot that is still true; kNone: none
    std::vector<std::uint32_t> pool_;
    std::vector<std::uint32_t> uses_;
    std::vector<SnapshotId> free_;
};

}  // namespace peal::checker
