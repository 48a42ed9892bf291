// SPDX-License-Identifier: Apache-2.0
// Symbolic data. A term says what a byte holds as a function of its coordinate, so one term stands
// for a whole range, and a slice of a range has the same term. Equal terms have equal numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/model.hpp"

namespace peal::checker {

using TermId = std::uint32_t;
inline constexpr TermId kUnwritten = 0;

// What the bytes of a range hold: the byte at offset p holds `term` at coordinate p + shift.
struct Content {
    TermId term = kUnwritten;
    std::int64_t shift = 0;
    bool operator==(const Content&) const = default;
};

struct Term {
    enum class Kind : std::uint8_t {
        unwritten,
        input,      // what the caller put into `region` for `call`; the coordinate is its offset
        fill,       // `scalar`, over and over
        combine,    // left op right, element by element
        gathered,   // left + right, in any order with all that left was gathered from
        rounded,    // left, rounded to `element` after it was accumulated in more
        mapped,     // left with `scalar`
        converted,  // left, whose elements are of type `from`
        bytes,      // `scalar` bytes of right, behind what left lists
        assembled,  // one element: the bytes that left lists, side by side
        computed,   // one element: `map` of the bytes that left lists
        unknown,    // what a clobber left: equal to itself and to nothing else
    };
    Kind kind = Kind::unwritten;
    ReduceOp op = ReduceOp::sum;
    MapOp map = MapOp::fill;
    Element element = Element::u8;
    Element from = Element::u8;
    // It depends on the order in which something was gathered.
    bool is_open = false;
    // Elements begin at coordinates that are `phase` modulo their size.
    std::uint8_t phase = 0;
    // Without an input in it, a term repeats itself and has no coordinate of its own; else 0.
    std::uint8_t period = 0;
    TermId left = kUnwritten, right = kUnwritten;
    std::int64_t left_shift = 0, right_shift = 0;  // coordinates of the parts, relative to this
    std::uint64_t scalar = 0;                      // bits of a double, or a number of bytes
    RegionId region = kNone;
    std::uint32_t call = 0;

    bool operator==(const Term&) const = default;
};

// A contribution to a combination.
struct Leaf {
    TermId term = kUnwritten;
    std::int64_t shift = 0;

    bool operator==(const Leaf&) const = default;
    bool operator<(const Leaf& other) const {
        return term != other.term ? term < other.term : shift < other.shift;
    }
};

// So many bytes of a content, from coordinate content.shift on.
struct Stretch {
    Content content;
    std::uint64_t bytes = 0;
};

class TermTable {
public:
    TermTable();

    const Term& operator[](TermId id) const { return terms_[id]; }
    std::size_t size() const { return terms_.size(); }
    std::uint64_t memory_bytes() const {
        constexpr std::uint64_t kPerEntry = 48;  // of the index, its allocations included
        return terms_.capacity() * sizeof(Term) + terms_.size() * (sizeof(Term) + kPerEntry);
    }

    // `at` is the offset of an element of the destination.
    Content input(RegionId region, std::uint32_t call);
    Content fill(Element element, double scalar, std::uint64_t at);
    // What instruction `index` of a rank's call left in `region`; each byte is another one.
    Content unknown(RegionId region, std::int32_t rank, std::uint32_t call, std::uint32_t index);
    Content combine(ReduceOp op, Element element, Content left, Content right, std::uint64_t at);
    // `sum` after `added` has been added to it atomically. Whatever is added to a sum like this, in
    // whatever order, the result is the same. Unwritten bytes and zeros are an empty sum.
    Content gathered(Element element, Content sum, Content added, std::uint64_t at);
    Content rounded(Element element, Content content, std::uint64_t at);
    Content mapped(MapOp map, Element element, double scalar, Content content, std::uint64_t at);
    // The elements from `at` on are made from those of the content, which begin at coordinate
    // content.shift.
    Content converted(Element to, Element from, Content content, std::uint64_t at);
    // The element at `at` consists of these bytes, which come from several contents.
    Content assembled(Element element, const std::vector<Stretch>& bytes, std::uint64_t at);
    // The element at `at` is `map` of all these bytes.
    Content computed(MapOp map, Element element, Element from, const std::vector<Stretch>& bytes,
                     std::uint64_t at);

    // The same with the operands of each combination in an order that does not depend on who came
    // first: a op b and b op a become one term. (Beyond some depth they stay as they are.)
    Content commuted(Content content, std::uint64_t at);

    // The same bytes seen from offsets that are `by` smaller.
    Content moved(Content content, std::int64_t by) const;

    // The same content of so many calls later: what was put in for call c is what was put in then.
    Content later(Content content, std::uint32_t calls);

    // The contributions to a combination with `op` of elements that begin at offset `at`, in order
    // (those of a gathered sum in an order that means nothing), at most `limit`; shifts are
    // relative to the offset. What is not such a combination is one contribution; neutral elements
    // are none. Of a maximum or minimum each contribution is listed once: it counts no more twice.
    std::vector<Leaf> leaves(Content content, ReduceOp op, Element element, std::uint64_t at,
                             std::size_t limit) const;
    // The same of a chain that was combined from left to right, and of nothing else.
    std::vector<Leaf> chain(Content content, ReduceOp op, Element element, std::uint64_t at) const;

private:
    struct Hash {
        std::size_t operator()(const Term& term) const;
    };
    TermId intern(const Term& term);
    Term listed(const std::vector<Stretch>& bytes);
    bool is_zero(TermId id) const;
    bool is_neutral(Content content, ReduceOp op, Element element, std::uint64_t at) const;
    bool is_in_phase(Content content, Element element, std::uint64_t at) const;
    Content linked(Element element, Content sum, Content added, std::uint64_t at);
    Content anchored(Term term, Content left, Content right, std::uint64_t at);
    Content later_term(const Term& term, std::uint32_t calls);
    Content later_part(TermId part, std::int64_t shift) const {
        const Content whole = later_.at(part);
        return moved(whole, shift);
    }
    std::vector<Content> gathered_parts(TermId id) const;
    Content commuted(Content content, std::uint64_t at, int depth);

    std::vector<Term> terms_;
    std::unordered_map<Term, TermId, Hash> ids_;
    std::unordered_map<TermId, Content> later_;  // of terms that were asked for, at coordinate 0
    std::uint32_t later_calls_ = 0;
    std::map<Leaf, Content> commuted_;  // what is known, for elements that begin at `commuted_at_`
    std::uint64_t commuted_at_ = 0;
};

// How a combination was made, by the ranks whose input is in it: "((0+1)+2)+3".
std::string order_text(const TermTable& terms, const Model& model, Content content);

// What bytes [begin, end) hold, in words: "sum(input@0[0..64), input@1[0..64))".
std::string text_of(const TermTable& terms, const Model& model, Content content,
                    std::uint64_t begin, std::uint64_t end);

}  // namespace peal::checker
