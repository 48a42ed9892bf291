// SPDX-License-Identifier: Apache-2.0
// Elements are the unit of arithmetic, bytes the unit of memory: this is where the two meet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "check/term.hpp"

namespace peal::checker {

// Bytes [begin, end) hold one content.
struct Piece {
    std::uint64_t begin, end;
    Content content;
};

// Appends a piece that continues the list, as part of the last one if it holds the same.
inline void append(std::vector<Piece>& pieces, const Piece& piece) {
    if (!pieces.empty() && pieces.back().content == piece.content) {
        pieces.back().end = piece.end;
    } else {
        pieces.push_back(piece);
    }
}

// Goes through pieces that lie side by side, in elements of `size` bytes from where the first
// begins. Calls whole(first, last, content) for elements [first, last) that lie in one piece, and
// mixed(k, stretches) for an element k that lies in several.
template <class Whole, class Mixed>
void for_each_element(const TermTable& terms, const std::vector<Piece>& pieces, std::uint64_t size,
                      Whole&& whole, Mixed&& mixed) {
    if (pieces.empty()) return;
    const std::uint64_t start = pieces.front().begin;
    std::size_t at = 0;  // the piece in which element `done` begins
    std::uint64_t done = 0;
    const auto stretches_of_next = [&] {
        std::vector<Stretch> list;
        const std::uint64_t begin = start + done * size, end = begin + size;
        for (std::size_t i = at; i < pieces.size() && pieces[i].begin < end; ++i) {
            const std::uint64_t from = std::max(begin, pieces[i].begin);
            const std::uint64_t until = std::min(end, pieces[i].end);
            const auto shift = static_cast<std::int64_t>(from);
            list.push_back({terms.moved(pieces[i].content, shift), until - from});
        }
        return list;
    };
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const std::uint64_t first = (pieces[i].begin - start + size - 1) / size;
        const std::uint64_t last = (pieces[i].end - start) / size;
        if (done < std::min(first, last)) {
            mixed(done, stretches_of_next());
            ++done;
        }
        if (first < last) {
            whole(first, last, pieces[i].content);
            done = last;
        }
        if (start + done * size >= pieces[i].begin) at = i;
    }
}

}  // namespace peal::checker
