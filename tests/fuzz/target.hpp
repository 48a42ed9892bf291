// SPDX-License-Identifier: Apache-2.0
// A fuzz target is a function that takes any bytes. What it may throw is peal::Error; whatever else
// ends the process is a finding. libFuzzer calls it, or driver.cpp where there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "peal/error.hpp"

// libFuzzer's name for it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace peal::fuzz {

// What must hold of every input.
inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "fuzz: it does not hold that %s\n", what);
    std::abort();
}

// Any input may be refused, and nothing else.
template <class Body>
int on_text(const std::uint8_t* data, std::size_t size, Body&& body) {
    try {
        body(std::string(reinterpret_cast<const char*>(data), size));
    } catch (const Error&) {
    }
    return 0;
}

}  // namespace peal::fuzz
