// SPDX-License-Identifier: Apache-2.0
#include "base/cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal {
namespace {

namespace fs = std::filesystem;

fs::path wanted_directory() {
    const auto from = [](const char* variable) {
        const char* value = std::getenv(variable);
        return value && *value ? fs::path(value) : fs::path();
    };
    if (const fs::path path = from("PEAL_CACHE"); !path.empty()) return path;
    if (const fs::path path = from("XDG_CACHE_HOME"); !path.empty()) return path / "peal";
    if (const fs::path path = from("HOME"); !path.empty()) return path / ".cache" / "peal";
    return fs::temp_directory_path() / fmt::format("peal-{}", getuid());
}

// What is found in it is loaded and run, so nobody else may put anything there.
bool is_ours(const fs::path& directory) {
    struct stat status = {};
    return stat(directory.c_str(), &status) == 0 && status.st_uid == geteuid() &&
           (status.st_mode & S_IWOTH) == 0;
}

}  // namespace

fs::path cache_directory() {
    const fs::path directory = wanted_directory();
    std::error_code error;
    fs::create_directories(directory, error);
    if (error || access(directory.c_str(), W_OK) != 0) {
        throw Error(
            Fault::resource,
            fmt::format("cannot write to the cache {}: name another directory in PEAL_CACHE",
                        directory.string()));
    }
    if (!is_ours(directory)) {
        throw Error(Fault::resource,
                    fmt::format("the cache {} belongs to somebody else, or everybody may write to "
                                "it: name a directory of your own in PEAL_CACHE",
                                directory.string()));
    }
    return directory;
}

fs::path beside(const fs::path& place) {
    static std::atomic<int> count = 0;
    fs::path name = place;
    name += fmt::format(".{}-{}", getpid(), count++);
    return name;
}

void publish(const fs::path& place, std::string_view text) {
    const fs::path draft = beside(place);
    std::ofstream file(draft, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    std::error_code error;
    if (file) fs::rename(draft, place, error);
    if (!file || error) {
        fs::remove(draft, error);
        throw Error(Fault::resource, fmt::format("cannot write {}", place.string()));
    }
}

}  // namespace peal
