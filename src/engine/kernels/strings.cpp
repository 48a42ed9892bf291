// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/strings.hpp"

// Sanitizers do not look into assembly.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#include <cpuid.h>
#else
#include <cstring>
#endif

namespace peal::engine::kernels {

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

// Of AMD's processors those since Zen 5 have; before them it is no quicker than the loop, and many
// times as slow where the two memories are aligned differently.
bool has_quick_strings() {
    static const bool has = [] {
        constexpr unsigned kZen5 = 0x1a;
        unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
        if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0 || ebx != signature_AMD_ebx) return false;
        if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return false;
        return (eax >> 8 & 0xf) + (eax >> 20 & 0xff) >= kZen5;
    }();
    return has;
}

void copy_string(void* dst, const void* src, std::size_t bytes) {
    asm volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(bytes) : : "memory");
}

#else

bool has_quick_strings() { return false; }
void copy_string(void* dst, const void* src, std::size_t bytes) { std::memcpy(dst, src, bytes); }

#endif

}  // namespace peal::engine::kernels
