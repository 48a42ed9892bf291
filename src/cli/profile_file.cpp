// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/file.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "PEAL_PROFILE";

[[noreturn]] void reject(const std::string& path, const std::string& why) {
    throw Error(Fault::resource, fmt::format("cannot write the profile {}: {}", path, why));
}

fs::path directory_of(const std::string& path) {
    const fs::path parent = fs::path(path).parent_path();
    return parent.empty() ? "." : parent;
}

}  // namespace

void expect_writable(const std::string& path) {
    if (fs::is_directory(path)) reject(path, "it is a directory");
    if (fs::exists(path) && !fs::is_regular_file(path)) {
        if (euidaccess(path.c_str(), W_OK) != 0) reject(path, std::strerror(errno));
        return;
    }
    const fs::path directory = directory_of(path);
    std::error_code error;
    fs::create_directories(directory, error);
    if (error) reject(path, error.message());
    if (euidaccess(directory.c_str(), W_OK | X_OK) != 0) reject(path, std::strerror(errno));
}

ForcedProfile::ForcedProfile(const comm::Table& table) {
    path_ = (fs::temp_directory_path() / "peal-profile-XXXXXX").string();
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) reject(path_, std::strerror(errno));
    close(descriptor);
    base::write_text(path_, comm::to_json(table), "profile");
    if (const char* before = std::getenv(kVariable)) before_ = before;
    setenv(kVariable, path_.c_str(), 1);
}

ForcedProfile::~ForcedProfile() {
    std::remove(path_.c_str());
    if (before_) {
        setenv(kVariable, before_->c_str(), 1);
    } else {
        unsetenv(kVariable);
    }
}

}  // namespace peal::cli
