// SPDX-License-Identifier: Apache-2.0
// The target as a ring of slots, for the recipe `pipeline`: a long vector passes through a small
// target chunk by chunk.
#pragma once

#include "collectives/site.hpp"

namespace peal::collectives {

class Slots {
public:
    static constexpr std::int64_t kSlots = 4;

    // A slot holds a chunk of each of `blocks` vectors of up to `length` elements.
    Slots(const Site& at, const ExprPtr& length, const ExprPtr& blocks,
          std::int64_t slots = kSlots);

    // Elements that the target must have at least: one of each vector in each slot.
    static ExprPtr least(const ExprPtr& blocks, std::int64_t slots = kSlots);

    const ExprPtr& size() const { return size_; }      // of all chunks but the last
    const ExprPtr& chunks() const { return chunks_; }  // at least one; the last may be empty
    // Chunk i of a vector; of one that is shorter than the longest, it may be empty.
    Part chunk(const ExprPtr& i) const { return chunk_of(length_, i); }
    Part chunk_of(const ExprPtr& length, const ExprPtr& i) const;
    // Where it is in the target.
    ExprPtr place(const ExprPtr& i, const ExprPtr& block = ir::integer(0)) const;

    using Step = std::function<void(const Site& here, const ExprPtr& i)>;

    // Everybody with everybody. In turn i, `stage` puts chunk i into the own slot and says
    // phase(i), and `fetch` gets chunk i-1 from peers that have said so: they had a turn's time for
    // it. When a slot is filled again its readers are known to be done: who has staged chunk i-2
    // has fetched chunk i-4 before.
    void exchange(const Site& at, const Step& stage, const Step& fetch) const;

    // From some ranks to others. `send` fills the own slot and says phase(i), after
    // `wait_for_readers` has waited for phase(i) of a chunk that was in the slot before; `receive`
    // gets a chunk and says phase(i) in return.
    void send(const Site& at, const Step& wait_for_readers, const Step& stage) const;
    void receive(const Site& at, const Step& fetch) const;
    // The own vector, to the root, who says phase(i) when it has chunk i.
    void send_to_root(const Site& at) const;

    static ExprPtr phase(const ExprPtr& i) { return i + 1; }

private:
    ExprPtr length_, blocks_;
    std::int64_t slots_;
    ExprPtr size_, chunks_;
};

}  // namespace peal::collectives
