// SPDX-License-Identifier: Apache-2.0
#include "check/clocks.hpp"

#include <algorithm>

namespace peal::checker {
namespace {

// Among a thousand agents most of the time goes here. The baseline of x86 has no maximum of
// unsigned words.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("avx2", "default")))
#endif
void take_later(std::uint32_t* mine, const std::uint32_t* theirs, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) mine[i] = mine[i] < theirs[i] ? theirs[i] : mine[i];
}

}  // namespace

std::vector<std::uint32_t> Clocks::known_to_all() const {
    std::vector<std::uint32_t> least(rows_.begin(),
                                     rows_.begin() + static_cast<std::ptrdiff_t>(agents_));
    for (AgentId agent = 1; agent < agents_; ++agent) {
        const auto mine = row(agent);
        for (std::size_t i = 0; i < agents_; ++i) least[i] = std::min(least[i], mine[i]);
    }
    return least;
}

Clocks::SnapshotId Clocks::snapshot(AgentId agent) {
    SnapshotId& current = current_[agent];
    if (current == kNone) {
        if (free_.empty()) {
            free_.push_back(static_cast<SnapshotId>(uses_.size()));
            uses_.push_back(0);
            pool_.resize(pool_.size() + agents_);
        }
        current = free_.back();
        free_.pop_back();
        uses_[current] = 1;
        std::copy_n(rows_.data() + agent * agents_, agents_, words(current));
    }
    ++uses_[current];
    return current;
}

void Clocks::release(SnapshotId id) {
    if (--uses_[id] == 0) free_.push_back(id);
}

void Clocks::drop_current(AgentId agent) {
    if (current_[agent] == kNone) return;
    release(current_[agent]);
    current_[agent] = kNone;
}

void Clocks::join(AgentId agent, SnapshotId id, Epoch notify) {
    if (knows(agent, notify)) return;
    drop_current(agent);
    std::uint32_t* mine = rows_.data() + agent * agents_;
    take_later(mine, words(id), agents_);
    mine[notify.agent] = std::max(mine[notify.agent], notify.time);
}

}  // namespace peal::checker
