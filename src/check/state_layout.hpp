// SPDX-License-Identifier: Apache-2.0
// A state of the exploration, unpacked to work on and packed to keep.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "check/signal_program.hpp"

namespace peal::checker {

struct State {
    std::vector<Position> position;  // by agent
    std::vector<std::int64_t> slot;
    std::uint32_t memory = 0;
};

class StateLayout {
public:
    StateLayout(const SignalProgram& program, bool with_memory) {
        for (const Track& track : program.tracks()) positions_.push_back(add(track.ops.size()));
        for (const Slot& slot : program.slots()) {
            slots_.push_back(add(static_cast<std::uint64_t>(slot.most - slot.least)));
            least_.push_back(slot.least);
        }
        memory_ = add(with_memory ? 0xffffffff : 0);
    }

    std::size_t words() const { return words_; }

    void pack(const State& state, std::uint64_t* words) const {
        // Fields come word by word, so each word is put together before it is written.
        std::uint64_t word = 0, number = 0;
        const auto put = [&](const Field& field, std::uint64_t value) {
            if (field.mask == 0) return;
            if (field.word != number) {
                words[number++] = word;
                word = 0;
            }
            word |= (value & field.mask) << field.shift;
        };
        for (std::size_t i = 0; i < positions_.size(); ++i) put(positions_[i], state.position[i]);
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            put(slots_[i], static_cast<std::uint64_t>(state.slot[i] - least_[i]));
        }
        put(memory_, state.memory);
        words[number] = word;
    }

    void unpack(const std::uint64_t* words, State& state) const {
        for (std::size_t i = 0; i < positions_.size(); ++i) {
            state.position[i] = static_cast<Position>(get(words, positions_[i]));
        }
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            state.slot[i] = static_cast<std::int64_t>(get(words, slots_[i])) + least_[i];
        }
        state.memory = static_cast<std::uint32_t>(get(words, memory_));
    }

private:
    struct Field {
        std::uint32_t word = 0, shift = 0;
        std::uint64_t mask = 0;
    };

    // Room for values up to `most`, within one word.
    Field add(std::uint64_t most) {
        const auto bits = static_cast<std::uint32_t>(std::bit_width(most));
        if (bits == 0) return {};
        if (used_ + bits > 64) {
            ++words_;
            used_ = 0;
        }
        const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
        const Field field{static_cast<std::uint32_t>(words_ - 1), used_, mask};
        used_ += bits;
        return field;
    }
    static std::uint64_t get(const std::uint64_t* words, const Field& field) {
        return words[field.word] >> field.shift & field.mask;
    }

    std::size_t words_ = 1;
    std::uint32_t used_ = 0;
    std::vector<Field> positions_, slots_;
    std::vector<std::int64_t> least_;
    Field memory_;
};

}  // namespace peal::checker
