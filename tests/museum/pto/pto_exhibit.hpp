// SPDX-License-Identifier: Apache-2.0
// An exhibit on pipes: a fault as a PTO kernel of an allreduce of 64 floats. Compiled with MENDED
// defined it is the mended form. The file begins with comment lines:
//
//   // what:    what happens
//   // why:     what the rule is
//   // expect:  the kind of the first violation on a2a3
//   // on a5:   "proved" when the fault is none on that device; otherwise as on a2a3
//   // order:   the order of memory under which it is wrong: drained unless said
//   // ranks:   2, 3 unless said
//   // calls:   3 unless said
//
// Lines that end in "// FAULT" are those that the report names.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace peal::museum {

struct PtoExhibit {
    std::string id;
    std::string path;
    std::string what, why;
    std::string expect, expect_on_a5;
    bool is_fenced = false;
    std::vector<int> ranks = {2, 3};
    int calls = 3;
    std::set<std::uint32_t> faults;  // lines
};

// The ids of all kernels in tests/museum/pto, sorted.
std::vector<std::string> pto_exhibit_ids();

// Throws Error(program) when the file does not say what it must.
PtoExhibit load_pto_exhibit(const std::string& id);

}  // namespace peal::museum
