// SPDX-License-Identifier: Apache-2.0
// Text that one process writes and others read. Who writes and when it may be read is the user's to
// say.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace peal::shm {

// Without initial value, so that what nobody writes takes no memory.
template <std::size_t kBytes>
struct SharedText {
    std::uint32_t length;
    char text[kBytes - sizeof(std::uint32_t)];
};

// What does not fit is left out, and dots say so.
template <std::size_t kBytes>
void put(SharedText<kBytes>& to, std::string_view text) {
    constexpr std::string_view kDots = "...";
    const bool fits = text.size() <= sizeof to.text;
    const std::size_t kept = fits ? text.size() : sizeof to.text - kDots.size();
    std::memcpy(to.text, text.data(), kept);
    if (!fits) std::memcpy(to.text + kept, kDots.data(), kDots.size());
    to.length = static_cast<std::uint32_t>(fits ? kept : sizeof to.text);
}

// A reader trusts no length that another process wrote.
template <std::size_t kBytes>
std::string_view text_of(const SharedText<kBytes>& from) {
    return {from.text, std::min<std::size_t>(from.length, sizeof from.text)};
}

}  // namespace peal::shm
