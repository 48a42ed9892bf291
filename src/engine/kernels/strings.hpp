// SPDX-License-Identifier: Apache-2.0
// Copies by a string instruction of the processor.
#pragma once

#include <cstddef>

namespace peal::engine::kernels {

// Whether a string instruction stores whole lines without fetching them first, at no other cost. It
// saves what a vector's store waits for: a line's content, which another core or a further cache
// has.
bool has_quick_strings();

// The ranges do not overlap. On every x86-64 by such an instruction, but where a sanitizer must see
// what is read and written.
void copy_string(void* dst, const void* src, std::size_t bytes);

}  // namespace peal::engine::kernels
