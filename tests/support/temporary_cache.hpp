// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace peal::test {

// An environment variable, for as long as the object lives.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        setenv(name, value.c_str(), 1);
    }
    ~Variable() {
        if (before_) {
            setenv(name_, before_->c_str(), 1);
        } else {
            unsetenv(name_);
        }
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::optional<std::string> before_;
};

inline std::string fresh_directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "peal-cache-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary directory");
    return pattern;
}

// A cache directory of its own with a store of proofs in use. It goes away with the object.
class TemporaryCache {
public:
    TemporaryCache() : path_(fresh_directory()), cache_("PEAL_CACHE", path_) {}
    ~TemporaryCache() { std::filesystem::remove_all(path_); }
    const std::string& path() const { return path_; }
    std::string proofs() const { return path_ + "/proofs"; }

private:
    std::string path_;
    Variable cache_;
    Variable store_{"PEAL_PROOFS", "on"};
};

}  // namespace peal::test
