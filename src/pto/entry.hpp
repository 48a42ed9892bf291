// SPDX-License-Identifier: Apache-2.0
// Whether a library is what it is taken for. It is loaded in a child process.
#pragma once

#include <chrono>
#include <string>

namespace peal::pto {

// Throws Error(program) unless the library has an entry, was made with headers of ours, and is
// loaded within the time.
void require_entry(const std::string& kernel, const std::string& library,
                   std::chrono::milliseconds timeout);
// The same for a shim, whose functions have names of their own.
void require_shim(const std::string& shim, const std::string& library,
                  std::chrono::milliseconds timeout);

}  // namespace peal::pto
