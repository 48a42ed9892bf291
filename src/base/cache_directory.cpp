// SPDX-License-Identifier: Apache-2.0
#include "base/cache_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "peal/error.hpp"

namespace peal::base {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_directory(const fs::path& directory, std::string_view why,
                                   std::string_view remedy = "") {
    throw Error(Fault::resource, fmt::format("{} {}: {}name another directory in PEAL_CACHE",
                                             directory.string(), why, remedy));
}

fs::path wanted_directory() {
    const auto from = [](const char* variable) {
        const char* value = std::getenv(variable);
        return value && *value ? fs::path(value) : fs::path();
    };
    if (const fs::path path = from("PEAL_CACHE"); !path.empty()) return path;
    if (const fs::path path = from("XDG_CACHE_HOME"); !path.empty()) return path / "peal";
    if (const fs::path path = home_directory(); !path.empty()) return path / ".cache" / "peal";
    throw Error(Fault::resource,
                "there is no place for a cache, HOME is not set to a directory of the user's own: "
                "name a directory in PEAL_CACHE");
}

// Whoever may rename a directory on the way can put another one in its place. A directory with the
// sticky bit, such as /tmp, lets its users rename only their own.
void require_safe_way(const fs::path& directory) {
    for (fs::path above = directory; above != above.parent_path();) {
        above = above.parent_path();
        struct stat status {};
        const bool is_safe = stat(above.c_str(), &status) == 0 &&
                             (status.st_uid == 0 || status.st_uid == geteuid()) &&
                             ((status.st_mode & S_IWOTH) == 0 || (status.st_mode & S_ISVTX) != 0);
        if (is_safe) continue;
        refuse_directory(directory,
                         fmt::format("is in {}, where others can replace it", above.string()));
    }
}

void say_once(const std::string& why) {
    static std::mutex mutex;
    static std::string said;
    const std::lock_guard lock(mutex);
    if (std::exchange(said, why) == why) return;
    fmt::print(stderr, "peal: what is compiled is not kept: {}\n", why);
}

}  // namespace

void require_private(const fs::path& directory) {
    struct stat status {};
    if (lstat(directory.c_str(), &status) != 0) refuse_directory(directory, "cannot be made");
    if (!S_ISDIR(status.st_mode)) refuse_directory(directory, "is no directory");
    if (status.st_uid != geteuid()) refuse_directory(directory, "belongs to somebody else");
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        refuse_directory(directory, "can be written by others", "chmod go-w it or ");
    }
    if (euidaccess(directory.c_str(), W_OK | X_OK) != 0) {
        refuse_directory(directory, "cannot be written");
    }
}

bool is_own_file(const fs::path& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid();
}

fs::path home_directory() {
    const char* const value = std::getenv("HOME");
    const fs::path home = value ? fs::path(value).lexically_normal() : fs::path();
    return home.is_absolute() && home.has_relative_path() ? home : fs::path();
}

fs::path cache_directory() {
    const fs::path wanted = wanted_directory();
    make_private_directories(wanted);
    std::error_code error;
    const fs::path directory = fs::canonical(wanted, error);
    if (error) refuse_directory(wanted, "cannot be made");
    require_private(directory);
    require_safe_way(directory);
    return directory;
}

fs::path cache_or_temporary_directory() {
    try {
        return cache_directory();
    } catch (const Error& error) {
        say_once(error.what());
    }
    static const TemporaryDirectory temporary;
    return temporary.path();
}

}  // namespace peal::base
