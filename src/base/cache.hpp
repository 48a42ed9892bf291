// SPDX-License-Identifier: Apache-2.0
// Files that can be made again, kept by the content they were made from.
//
// A file is written beside its place and renamed into it, so that nobody ever sees half of one;
// what is there never changes.
#pragma once

#include <filesystem>
#include <string_view>

namespace peal {

// $PEAL_CACHE, or peal/ in $XDG_CACHE_HOME or ~/.cache; created if it is not there. Throws
// Error(resource) when that cannot be or others could put files there, and says how to name
// another.
std::filesystem::path cache_directory();

// A name beside `place` that nobody else uses, for a file that will be renamed to it.
std::filesystem::path beside(const std::filesystem::path& place);

// Puts the text at the place, whole or not at all.
void publish(const std::filesystem::path& place, std::string_view text);

}  // namespace peal
