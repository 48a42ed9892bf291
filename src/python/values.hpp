// SPDX-License-Identifier: Apache-2.0
// What Python passes, as what kernels are made of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "peal/bindings.hpp"
#include "peal/error.hpp"
#include "peal/ir.hpp"
#include "python/module.hpp"

namespace peal::python {

// The kernel of that name, or the only one if no name is given. Throws Error(usage).
const ir::Kernel& kernel_of(const ir::Program& program, const std::string& wanted);

// Symbols, scalars and tables by name. An integer goes for a scalar that is floating. Throws
// Error(usage) for a value that is none of the three.
Bindings bindings_from(const ir::Kernel& kernel, const py::dict& values);

// What is called `name` as an integer of 64 bits, and as integers in a row, or in rows. Throw
// Error(usage).
std::int64_t integer_from(const std::string& name, py::handle value);
std::vector<std::int64_t> table_from(const std::string& name, py::handle value);

// What is called `name` as a number of things. Throws Error(usage).
std::uint64_t count_from(const std::string& name, py::handle value);

// The value that a word stands for in an enumeration whose members have a name(). Throws
// Error(usage) with the words that there are.
template <class Enum, std::size_t n>
Enum word_from(const char* what, std::string_view word, const std::array<Enum, n>& all) {
    std::string words;
    for (const Enum each : all) {
        if (name(each) == word) return each;
        words += (words.empty() ? "" : ", ") + std::string(name(each));
    }
    throw Error(Fault::usage, std::string(what) + ": there is no '" + std::string(word) +
                                  "'; choose one of " + words);
}

}  // namespace peal::python
