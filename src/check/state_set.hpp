// SPDX-License-Identifier: Apache-2.0
// The states an exploration has met, in the order in which it met them. States are kept whole and
// compared whole, so two different ones are never taken for one.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace peal::checker {

class StateSet {
public:
    static constexpr std::uint32_t kNoState = 0xffffffff;

    explicit StateSet(std::size_t words) : words_(words), slots_(kFirstSlots, kNoState) {}

    std::uint32_t size() const { return static_cast<std::uint32_t>(parents_.size()); }
    const std::uint64_t* state(std::uint32_t id) const { return pool_.data() + id * words_; }
    std::uint32_t parent(std::uint32_t id) const { return parents_[id]; }
    std::uint32_t mover(std::uint32_t id) const { return movers_[id]; }

    // Adds the state, reached from `parent` by a step of `mover`, unless it is known.
    bool insert(const std::uint64_t* state, std::uint32_t parent, std::uint32_t mover) {
        if (2 * parents_.size() >= slots_.size()) grow();
        std::size_t slot = hash(state) & (slots_.size() - 1);
        while (slots_[slot] != kNoState) {
            if (equal(this->state(slots_[slot]), state)) return false;
            slot = (slot + 1) & (slots_.size() - 1);
        }
        slots_[slot] = size();
        pool_.insert(pool_.end(), state, state + words_);
        parents_.push_back(parent);
        movers_.push_back(mover);
        return true;
    }

    std::uint64_t memory_bytes() const {
        return pool_.capacity() * sizeof(std::uint64_t) +
               (parents_.capacity() + movers_.capacity() + slots_.capacity()) *
                   sizeof(std::uint32_t);
    }

private:
    static constexpr std::size_t kFirstSlots = 1024;

    bool equal(const std::uint64_t* a, const std::uint64_t* b) const {
        return std::memcmp(a, b, words_ * sizeof(std::uint64_t)) == 0;
    }
    std::size_t hash(const std::uint64_t* state) const {
        std::uint64_t hash = 0x9e3779b97f4a7c15;
        for (std::size_t i = 0; i < words_; ++i) {
            hash = (hash ^ state[i]) * 0xff51afd7ed558ccd;
            hash ^= hash >> 29;
        }
        return hash;
    }
    void grow() {
        slots_.assign(slots_.size() * 2, kNoState);
        for (std::uint32_t id = 0; id < size(); ++id) {
            std::size_t slot = hash(state(id)) & (slots_.size() - 1);
            while (slots_[slot] != kNoState) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = id;
        }
    }

    std::size_t words_;
    std::vector<std::uint64_t> pool_;
    std::vector<std::uint32_t> parents_, movers_;
    std::vector<std::uint32_t> slots_;
};

}  // namespace peal::checker
