// SPDX-License-Identifier: Apache-2.0
// Files that can be made again, kept by the content they were made from.
//
// A file is written beside its place and renamed into it, so that nobody ever sees half of one;
// what is there never changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace peal::pto {

// 128 bits of everything that was put in, in order.
class Digest {
public:
    Digest& add(std::string_view text);
    std::string text() const;

private:
    std::uint64_t low_ = 0xcbf29ce484222325;
    std::uint64_t high_ = 0x9e3779b97f4a7c15;
};

// $PEAL_CACHE, or peal/ in $XDG_CACHE_HOME or ~/.cache; created if it is not there. Throws
// Error(resource) when that cannot be or others could put files there, and says how to name
// another.
std::filesystem::path cache_directory();

// A name beside `place` that nobody else uses, for a file that will be renamed to it.
std::filesystem::path beside(const std::filesystem::path& place);

// Puts the text at the place, whole or not at all.
void publish(const std::filesystem::path& place, std::string_view text);

}  // namespace peal::pto
