// SPDX-License-Identifier: Apache-2.0
// The states an exploration has met, in the order in which it met them. States are kept whole and
// compared whole, so two different ones are never taken for one.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <vector>

namespace peal::checker {

class StateSet {
public:
    static constexpr std::uint32_t kNoState = 0xffffffff;

    explicit StateSet(std::size_t words) : words_(words), slots_(kFirstSlots, kEmpty) {}

    std::uint32_t size() const { return static_cast<std::uint32_t>(parents_.size()); }
    const std::uint64_t* state(std::uint32_t id) const { return pool_.data() + id * words_; }
    std::uint32_t parent(std::uint32_t id) const { return parents_[id]; }
    std::uint32_t mover(std::uint32_t id) const { return movers_[id]; }

    std::uint64_t hash(const std::uint64_t* state) const {
        std::uint64_t hash = 0x9e3779b97f4a7c15;
        for (std::size_t i = 0; i < words_; ++i) {
            hash = (hash ^ state[i]) * 0xff51afd7ed558ccd;
            hash ^= hash >> 29;
        }
        return hash;
    }

    // Memory is the bottleneck: ask for the place of a state well before it is inserted.
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[place(hash)]); }

    // Adds the state, reached from `parent` by a step of `mover`, unless it is known.
    void insert(const std::uint64_t* state, std::uint64_t hash, std::uint32_t parent,
                std::uint32_t mover) {
        if (2 * parents_.size() >= slots_.size()) grow();
        std::size_t slot = place(hash);
        for (; slots_[slot] != kEmpty; slot = (slot + 1) & (slots_.size() - 1)) {
            if (tag(slots_[slot]) == tag(hash) && equal(this->state(id(slots_[slot])), state)) {
                return;
            }
        }
        slots_[slot] = tag(hash) | size();
        pool_.insert(pool_.end(), state, state + words_);
        parents_.push_back(parent);
        movers_.push_back(mover);
    }

    std::uint64_t memory_bytes() const {
        return (pool_.capacity() + slots_.capacity()) * sizeof(std::uint64_t) +
               (parents_.capacity() + movers_.capacity()) * sizeof(std::uint32_t);
    }

private:
    static constexpr std::size_t kFirstSlots = 1024;
    // A slot holds the upper half of the hash and the number of the state.
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
    static std::uint64_t tag(std::uint64_t word) { return word >> 32 << 32; }
    static std::uint32_t id(std::uint64_t slot) { return static_cast<std::uint32_t>(slot); }

    std::size_t place(std::uint64_t hash) const { return hash & (slots_.size() - 1); }
    bool equal(const std::uint64_t* a, const std::uint64_t* b) const {
        for (std::size_t i = 0; i < words_; ++i) {
            if (a[i] != b[i]) return false;
        }
        return true;
    }
    // Every look-up is somewhere else: in large pages it is found sooner.
    static std::vector<std::uint64_t> empty_slots(std::size_t count) {
        constexpr std::uint64_t kLargePage = 2 << 20;
        std::vector<std::uint64_t> slots;
        slots.reserve(count);
        const auto begin = reinterpret_cast<std::uint64_t>(slots.data());
        const std::uint64_t first = (begin + kLargePage - 1) / kLargePage * kLargePage;
        const std::uint64_t end = begin + count * sizeof(std::uint64_t);
        if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
        slots.assign(count, kEmpty);
        return slots;
    }
    void grow() {
        slots_ = empty_slots(slots_.size() * 2);
        for (std::uint32_t i = 0; i < size(); ++i) {
            const std::uint64_t hashed = hash(state(i));
            std::size_t slot = place(hashed);
            while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = tag(hashed) | i;
        }
    }

    std::size_t words_;
    std::vector<std::uint64_t> pool_;
    std::vector<std::uint32_t> parents_, movers_;
    std::vector<std::uint64_t> slots_;
};

}  // namespace peal::checker
