// SPDX-License-Identifier: Apache-2.0
// An exhibit: a historical bug as a .peal file with a broken and a mended kernel. The file begins
// with comment lines that say what happened and what the checker must find:
//
//   # what:  # where:  # why:  the story, in this order, before everything else
//   # expect:         the kind of the first violation; or "rejected, <part of the error>"; or
//                     "dead copy into <window>"
//   # as:             the collective it should be, "<collective> in place", or "none"
//   # set:            name=value ..., for the symbols and scalars of the kernels
//   # ranks:          2,3 unless said
//   # calls:          3 unless said
//   # warning:        what the verifier says about the file
//   # holds:          window=what ..., for windows that hold something when a call begins
//   # broken memory:  buffer=name ..., where the broken form's buffers are
//   # mended set:     settings that differ for the mended form
//   # mended says:    how the mended form rejects the broken form's settings
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peal/check.hpp"
#include "peal/collective.hpp"
#include "peal/diagnostic.hpp"

namespace peal::museum {

struct Exhibit {
    std::string id;
    std::string what, where, why;
    std::string expect;
    std::optional<CollectiveKind> meaning;
    bool in_place = false;
    std::vector<int> ranks = {2, 3};
    int calls = 3;
    Bindings broken_settings, mended_settings;
    std::map<std::string, std::string> broken_memory;
    std::vector<Held> holds;
    std::string warning, mended_says;

    ir::Program program;
    std::vector<Diagnostic> warnings;
    std::vector<std::string> broken_kernels;  // those whose name begins with "broken"
};

// The ids of all .peal files of the museum, sorted.
std::vector<std::string> exhibit_ids();

// Throws Error(program) when the file does not say what it must, or says what is not known.
Exhibit load_exhibit(const std::string& id);

}  // namespace peal::museum
