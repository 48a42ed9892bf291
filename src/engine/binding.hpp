// SPDX-License-Identifier: Apache-2.0
// Plans meet memory: whether what is offered for a buffer fits it. The one answer, and the same
// words, for all engines; each says for whom and for which call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "peal/plan.hpp"

namespace peal::engine {

// Memory that somebody offers for a buffer of a plan, as one rank sees it.
struct Offer {
    enum class Kind : std::uint8_t {
        nothing,
        argument,   // private memory
        window,     // symmetric memory for data
        signals,    // symmetric memory for cells
        symmetric,  // symmetric memory for either
    };
    Kind kind = Kind::nothing;
    const void* data = nullptr;                     // private memory only
    std::uint64_t bytes = 0;                        // of one rank
    std::optional<Element> element = std::nullopt;  // if its type is known
    std::uint64_t cells = 0, cell_stride = 0;       // signals only
    bool is_writable = true;
    std::string shown = {};  // how its owner shows it; empty: by type and size
};

struct Misfit {
    std::string expected, found;
};

// What is wrong with the offer; nothing if it fits. Memory whose type is known must be of the
// buffer's type; private memory then has as many elements as the buffer and is aligned to them. Any
// other memory may be larger than the buffer. `is_written`: by this rank.
std::optional<Misfit> misfit(const Buffer& buffer, const Offer& offer, bool is_written);
inline std::optional<Misfit> misfit(const Buffer& buffer, const Offer& offer) {
    return misfit(buffer, offer, buffer.direction != Direction::in);
}

}  // namespace peal::engine
