// SPDX-License-Identifier: Apache-2.0
// What single bytes hold, as numbers: equal numbers, equal contents. An element is the list of its
// bytes, so nothing here knows of ranges, coordinates or periods.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <unordered_map>
#include <vector>

#include "peal/plan.hpp"

namespace peal::test {

using ByteTerm = std::uint32_t;
inline constexpr ByteTerm kNothing = 0;  // nobody wrote it

// The bytes of one element, or one byte of it; at most four.
class ByteList {
public:
    ByteList() = default;
    ByteList(std::initializer_list<ByteTerm> bytes) : ByteList(bytes.begin(), bytes.end()) {}
    template <class Iterator>
    ByteList(Iterator begin, Iterator end) {
        for (; begin != end; ++begin) push_back(*begin);
    }
    void push_back(ByteTerm byte) { bytes_.at(size_++) = byte; }
    std::size_t size() const { return size_; }
    const ByteTerm* begin() const { return bytes_.data(); }
    const ByteTerm* end() const { return bytes_.data() + size_; }
    ByteTerm operator[](std::size_t at) const { return bytes_[at]; }
    auto operator<=>(const ByteList&) const = default;

private:
    std::array<ByteTerm, 4> bytes_ = {};
    std::size_t size_ = 0;
};

// The number as its element is stored. Narrow floating numbers must be exact.
std::uint64_t bits_of(Element element, double number);

class NaiveTerms {
public:
    NaiveTerms() { intern({}); }

    // The byte that the caller wrote there for that call, and what a clobber left there.
    ByteTerm input(std::uint32_t call, std::uint32_t byte) { return intern({kInput, call, byte}); }
    ByteTerm unknown(std::uint32_t step, std::uint32_t byte) {
        return intern({kUnknown, step, byte});
    }
    ByteTerm constant(std::uint32_t value) { return intern({kConstant, value}); }

    ByteList combine(ReduceOp op, Element element, const ByteList& left, const ByteList& right);
    ByteList gather(Element element, const ByteList& sum, const ByteList& added);
    ByteList round(Element element, const ByteList& inner);
    // Any other work: its result is equal to that of the same work on the same bytes only.
    ByteList compute(MapOp map, Element element, Element from, double scalar,
                     std::span<const ByteTerm> bytes);

    // The contributions to an element, or to byte `at` of one, sorted; those of a maximum once.
    std::vector<ByteList> parts(const ByteList& element, ReduceOp op, Element type) const;
    std::vector<ByteList> parts_of_byte(ByteTerm byte, std::size_t at, ReduceOp op,
                                        Element type) const;
    // The contributions in the order of a chain from left to right.
    std::vector<ByteList> chain(ByteList element, ReduceOp op, Element type) const;

    // The same with the operands of each combination sorted: of a op b and b op a one and the same.
    ByteList commuted(const ByteList& element);

    // It depends on the order in which something was gathered.
    bool is_open(ByteTerm byte) const { return open_[byte]; }
    bool is_input(ByteTerm byte) const {
        return keys_[byte].size() > 1 && keys_[byte][0] == kInput;
    }

private:
    enum Kind : std::uint32_t {
        kInput,
        kUnknown,
        kConstant,
        kNumber,
        kByte,  // from here on what follows the second word are terms
        kCombined,
        kGathered,
        kRounded,
        kComputed,
    };
    using Key = std::vector<std::uint32_t>;
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };

    std::uint32_t intern(const Key& key);
    ByteList bytes_of_result(std::uint32_t result, Element element);
    const Key* whole(const ByteList& element) const;
    const Key* result_at(ByteTerm byte, std::size_t at) const;
    void collect(const ByteList& element, ReduceOp op, Element type,
                 std::vector<ByteList>& list) const;
    bool collect_from(const Key& result, ReduceOp op, Element type,
                      std::vector<ByteList>& list) const;
    bool is_neutral(const ByteList& element, ReduceOp op, Element type) const;
    bool is_empty_sum(const ByteList& element) const;

    std::vector<Key> keys_;
    std::vector<bool> open_;
    std::unordered_map<Key, std::uint32_t, Hash> numbers_;
};

}  // namespace peal::test
