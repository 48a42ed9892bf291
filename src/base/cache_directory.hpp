// SPDX-License-Identifier: Apache-2.0
// Where files are kept that can be made again.
//
// A file is written beside its place and moved there, so that nobody ever sees half of one; what is
// there never changes. What is found there is believed, and some of it is run, so nobody else may
// be able to put anything there.
#pragma once

#include <filesystem>

namespace peal::base {

// $HOME; empty unless that is a directory of the user's own: not relative, and not the root, which
// it is in containers for users that have no entry.
std::filesystem::path home_directory();

// $PEAL_CACHE, or peal/ in $XDG_CACHE_HOME or ~/.cache; made for the user alone if it is not there.
// Throws Error(resource) when that cannot be, when it cannot be written, or when others could put
// files there, and says how to name another.
std::filesystem::path cache_directory();

// The same, or where that cannot be a directory that ends with this process; why is said once on
// stderr.
std::filesystem::path cache_or_temporary_directory();

// Throws Error(resource) unless it is a directory, no link, that the user owns and nobody else can
// write to.
void require_private(const std::filesystem::path& directory);

// A regular file that the user owns: one that somebody put there while he could is not.
bool is_own_file(const std::filesystem::path& path);

}  // namespace peal::base
