// SPDX-License-Identifier: Apache-2.0
// What steps do to memory: to the term and to the real bytes of each byte, side by side.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "check/crosscheck/naive.hpp"
#include "check/crosscheck/naive_bytes.hpp"
#include "check/crosscheck/naive_program.hpp"
#include "check/crosscheck/naive_terms.hpp"

namespace peal::test {

// The memory itself is part of a state: `terms` and `lanes` of all bytes.
class NaiveMemory {
public:
    NaiveMemory(const NaiveProgram& program, Truth& truth) : program_(program), truth_(truth) {}

    // Before the first call.
    void begin(ByteTerm* terms, Lanes* lanes);
    void stage(const NaiveStep& step, ByteTerm* terms, Lanes* lanes);
    void carry_out(const NaiveStep& step, ByteTerm* terms, Lanes* lanes);
    void consume(const NaiveStep& step, const ByteTerm* terms, const Lanes* lanes);

private:
    // Bytes on their way from a source to a destination.
    struct Bytes {
        std::vector<ByteTerm> terms;
        std::vector<Lanes> lanes;
    };
    // One element of an output, or one byte of a copy or an integer.
    struct Wanted {
        const Expected* output;
        std::vector<ByteList> parts;  // in the order listed
        std::vector<Lanes> lanes;
    };

    Bytes read(ByteRange place, const ByteTerm* terms, const Lanes* lanes,
               bool may_be_unwritten = false);
    void clear(ByteRange place, ByteTerm* terms, Lanes* lanes);
    Lanes input_lanes(std::uint32_t call, std::uint32_t byte) const;
    void reduce(const Reduce& reduce, const std::vector<Bytes>& src, Bytes& out);
    void accumulate(const Accumulate& sum, const Bytes& src, const Bytes& dst, Bytes& out);
    void map(const Map& map, const NaiveStep& step, const Bytes& src, Bytes& out);
    void sum_row(const Map& map, const Bytes& src, Bytes& out);
    void fill(const Map& map, Bytes& out);

    Wanted wanted(const NaiveStep& step, const Expected& output, std::uint64_t element);
    void judge(const NaiveStep& step, const Wanted& wanted, std::uint64_t element,
               const ByteTerm* terms, const Lanes* lanes);
    bool is_right_byte(const Wanted& wanted, ByteTerm byte, std::size_t at) const;
    bool is_right_number(const NaiveStep& step, const Wanted& wanted, const ByteList& bytes) const;
    bool is_excused(const Wanted& wanted, const ByteList& bytes) const;
    void compare_bits(const NaiveStep& step, const Wanted& wanted, std::uint64_t element,
                      const ByteList& bytes);

    const NaiveProgram& program_;
    Truth& truth_;
    NaiveTerms terms_;
    // The first term met, by call, contributions and element.
    std::map<std::tuple<std::uint32_t, const void*, std::uint64_t>, ByteList> first_;
};

}  // namespace peal::test
