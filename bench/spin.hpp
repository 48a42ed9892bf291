// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::bench {

// Tells the core that this is a waiting loop.
inline void spin_pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace peal::bench
