// SPDX-License-Identifier: Apache-2.0
#include "emit/known.hpp"

namespace peal::emit {
namespace {

template <class Key>
void meet_all(std::map<Key, Known>& mine, const std::map<Key, Known>& others) {
    for (const auto& [key, theirs] : others) {
        const auto [it, is_new] = mine.emplace(key, theirs);
        if (is_new) continue;
        const Known& other = theirs;
        it->second.by &= other.by;
        std::erase_if(it->second.tiles_covered,
                      [&](TileId tile) { return !other.tiles_covered.contains(tile); });
        it->second.memory_covered = it->second.memory_covered && other.memory_covered;
    }
}

}  // namespace

// What the scalar unit knows, it knew before it issued what comes next.
void Knowledge::tell(Pipe from, Pipe to) {
    const Knowers learns = to == Pipe::scalar ? kAllPipes : bit(to);
    for (auto& [key, known] : done) {
        if ((known.by & bit(from)) != 0) known.by |= learns;
    }
    for (auto& [key, known] : taken) {
        if ((known.by & bit(from)) != 0) known.by |= learns;
    }
}

void Knowledge::forget_all() {
    done.clear();
    taken.clear();
    load.reset();
}

void Knowledge::meet(const Knowledge& other) {
    meet_all(done, other.done);
    meet_all(taken, other.taken);
    if (!load) load = other.load;
}

}  // namespace peal::emit
