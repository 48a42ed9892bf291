// SPDX-License-Identifier: Apache-2.0
// Files that somebody named. All that Peal reads and writes for a user goes through here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace peal::base {

// The whole file. Throws Error(usage) when it cannot be read, and Error(bound) when it has more
// than `most` bytes: a device that never ends is not read for ever. `what` is in the message.
std::string read_text(const std::filesystem::path& path, std::uint64_t most,
                      std::string_view what = "");

// What the system says in a file that may be gone before it is open or while it is read: "" then.
std::string text_if_there(const std::filesystem::path& path);

// Puts the text into the file that the path or its links lead to, whole or not at all: an absent
// or regular file is written beside its place and moved there, with the permissions that it had.
// Anything else, such as a device, a pipe or what is open already, is written in place. Throws
// Error(resource): "cannot write the <what> <path>: <why>".
void write_text(const std::filesystem::path& path, std::string_view text, std::string_view what);

// A name in the directory of `place` that nobody else uses, for a file that will be moved there.
std::filesystem::path beside(const std::filesystem::path& place);

// Makes the directory and those above it that are missing, for this user alone.
void make_private_directories(const std::filesystem::path& directory);

// Removes a directory and all in it when it goes; a process that was forked meanwhile does not.
class TemporaryDirectory {
public:
    TemporaryDirectory();  // for this user alone; throws Error(resource)
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    int owner_ = 0;  // process
};

}  // namespace peal::base
