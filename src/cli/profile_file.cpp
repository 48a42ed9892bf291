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

comm::Table table_at(const std::string& path) {
    if (!fs::is_regular_file(path)) return comm::built_in_table();
    try {
        return comm::table_in(path);
    } catch (const Error&) {  // a new one is what to do about it
        return comm::built_in_table();
    }
}

std::vector<comm::Rule> own_rules_between_hosts(const std::string& path) {
    const auto of_hosts = [](comm::Table table) {
        std::erase_if(table.rules,
                      [](const comm::Rule& rule) { return rule.where != comm::Where::hosts; });
        return table.rules;
    };
    std::vector<comm::Rule> rules = of_hosts(table_at(path));
    if (rules == of_hosts(comm::built_in_table())) rules.clear();
    return rules;
}

ForcedProfile::ForcedProfile(const comm::Table& table) {
    path_ = (fs::temp_directory_path() / "peal-profile-XXXXXX").string();
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) reject(path_, std::strerror(errno));
    close(descriptor);
    base::write_text(path_, comm::to_json(table), "profile");
    if (const char* before = std::getenv(comm::kProfileVariable)) before_ = before;
    setenv(comm::kProfileVariable, path_.c_str(), 1);
}

ForcedProfile::~ForcedProfile() {
    std::remove(path_.c_str());
    if (before_) {
        setenv(comm::kProfileVariable, before_->c_str(), 1);
    } else {
        unsetenv(comm::kProfileVariable);
    }
}

}  // namespace peal::cli
