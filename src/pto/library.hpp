// SPDX-License-Identifier: Apache-2.0
// A kernel or a shim, loaded by the process that calls it.
#pragma once

#include <dlfcn.h>

#include <cstdint>

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

}  // namespace peal::pto
