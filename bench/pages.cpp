// SPDX-License-Identifier: Apache-2.0
#include "pages.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace peal::bench {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

std::shared_ptr<float[]> pages(std::size_t count) {
    // One huge page more than needed, so that the buffer can begin at the start of one.
    const std::size_t bytes = count * sizeof(float);
    const bool large = bytes >= kHugePage;
    const std::size_t mapped = bytes + (large ? kHugePage : 1);
    void* memory =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    void* begin = memory;
    std::size_t space = mapped;
    if (large) {
        std::align(kHugePage, bytes, begin, space);
        madvise(begin, space, MADV_HUGEPAGE);
    }
    std::memset(begin, 0, bytes);
    return {static_cast<float*>(begin), [=](float*) { munmap(memory, mapped); }};
}

}  // namespace peal::bench
