// SPDX-License-Identifier: Apache-2.0
// What an op does to bytes that it touches.
#pragma once

#include <bit>
#include <cstdint>

#include "peal/element.hpp"

namespace peal::checker {

struct Use {
    enum class Kind : std::uint8_t {
        read,
        write,
        add,       // elements of one type, atomically
        put_back,  // with the cache line of another cell
    };
    Kind kind = Kind::read;
    std::uint8_t of = 0;  // what is added, as a number; whose line is put back

    bool operator==(const Use&) const = default;
};

inline constexpr Use kRead{Use::Kind::read};
inline constexpr Use kWrite{Use::Kind::write};
inline constexpr Use use_of_sum(Element element) {
    return {Use::Kind::add, static_cast<std::uint8_t>(element)};
}
inline constexpr Use use_of_line(std::uint64_t cell_in_line) {
    return {Use::Kind::put_back, static_cast<std::uint8_t>(cell_in_line)};
}

inline bool changes(const Use& use) { return use.kind != Use::Kind::read; }

// Whether two uses of the same bytes must be ordered. Reads need not be; neither must additions of
// elements of one type: each is atomic, and their destinations are aligned, so their elements are
// the same; nor what is put back by notifies of one cell: whichever comes last, it knows what the
// other did.
inline bool conflict(const Use& a, const Use& b) {
    if (!changes(a) && !changes(b)) return false;
    return a.kind == Use::Kind::write || a != b;
}

// Several uses of the same bytes.
class Uses {
public:
    void add(const Use& use) { of(use.kind) |= std::uint32_t{1} << use.of; }
    bool empty() const { return !(reads_ || writes_ || adds_ || puts_); }

    // Whether some use of `a` conflicts with some use of `b`.
    friend bool conflict(const Uses& a, const Uses& b) {
        if (a.empty() || b.empty()) return false;
        if (a.writes_ || b.writes_) return true;
        if ((a.reads_ && (b.adds_ || b.puts_)) || (b.reads_ && (a.adds_ || a.puts_))) return true;
        if ((a.adds_ && b.puts_) || (a.puts_ && b.adds_)) return true;
        const auto differ = [](std::uint32_t x, std::uint32_t y) {
            return x && y && std::popcount(x | y) > 1;
        };
        return differ(a.adds_, b.adds_) || differ(a.puts_, b.puts_);
    }

    bool operator==(const Uses&) const = default;

private:
    std::uint32_t& of(Use::Kind kind) {
        switch (kind) {
            case Use::Kind::read: return reads_;
            case Use::Kind::write: return writes_;
            case Use::Kind::add: return adds_;
            case Use::Kind::put_back: break;
        }
        return puts_;
    }

    std::uint32_t reads_ = 0, writes_ = 0, adds_ = 0, puts_ = 0;  // by Use::of
};

}  // namespace peal::checker
