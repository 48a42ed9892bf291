// SPDX-License-Identifier: Apache-2.0
// A kernel or a shim, loaded by the process that calls it, and whether it is what it is taken for.
#pragma once

#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace peal::pto {

struct Library {
    // Null: it has no such function.
    template <class Function>
    Function symbol(const char* name) const {
        return reinterpret_cast<Function>(dlsym(handle, name));
    }

    void* handle = nullptr;
    std::uint64_t base = 0;  // where it was loaded
};

// Throws Error(program) unless the library has an entry, was made with headers of ours, and is
// loaded within the time, which a child process tries.
void require_entry(const std::string& kernel, const std::string& library,
                   std::chrono::milliseconds timeout);
// The same for a shim, whose functions have names of their own.
void require_shim(const std::string& shim, const std::string& library,
                  std::chrono::milliseconds timeout);

}  // namespace peal::pto
