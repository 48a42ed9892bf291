// SPDX-License-Identifier: Apache-2.0
// An obviously right checker for tiny programs: it goes through every interleaving, one instruction
// at a time, with no reductions. Each byte holds a term (naive_terms.hpp) and, beside it, real
// bytes (naive_bytes.hpp). It shares no code with the checker.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "peal/check.hpp"

namespace peal::test {

struct Truth {
    // Every kind of violation that some interleaving shows.
    std::set<ViolationKind> kinds;
    // Whether some interleaving returns other bytes than the meaning has. Always false for programs
    // with f16 or bf16 numbers, which are not carried out on bytes.
    bool differs = false;
    // A term was found wrong although its bytes are right, and not for one of these reasons: it is
    // a maximum, minimum, product or floating number, which may be right by chance; something in it
    // was mapped, converted, summed up by rows, clobbered or put together from parts of elements;
    // or a copy was asked for and it is a sum.
    bool is_unexplained = false;
    // What the callers found in their `out` and `inout` arguments, by call and rank.
    std::map<std::pair<std::uint32_t, int>, std::vector<std::uint32_t>> returned;
    // The inputs that these come from: none, any bytes or floating numbers.
    enum class Inputs : std::uint8_t { none, bytes, floats } inputs = Inputs::none;
};

// Nothing if there are more states than `most`. The stages are well formed, and nothing is wrong
// with them that does not depend on the interleaving.
std::optional<Truth> naive_check(const std::vector<CheckStage>& stages, int calls,
                                 MemoryOrder order, std::size_t most);

}  // namespace peal::test
