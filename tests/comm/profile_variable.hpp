// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "comm/profile.hpp"

namespace peal::comm::test {

// $PEAL_PROFILE for the time of a test.
class ProfileVariable {
public:
    explicit ProfileVariable(const std::string& value) { setenv("PEAL_PROFILE", value.c_str(), 1); }
    ~ProfileVariable() { unsetenv("PEAL_PROFILE"); }
    ProfileVariable(const ProfileVariable&) = delete;
    ProfileVariable& operator=(const ProfileVariable&) = delete;
};

// A profile for the time of a test: the built-in table, but this rule comes first.
class ProfileWith {
public:
    explicit ProfileWith(Rule rule) {
        Table table = built_in_table();
        table.rules.insert(table.rules.begin(), std::move(rule));
        std::ofstream(path_) << to_json(table);
    }
    ~ProfileWith() { std::remove(path_.c_str()); }
    ProfileWith(const ProfileWith&) = delete;
    ProfileWith& operator=(const ProfileWith&) = delete;

private:
    std::string path_ = testing::TempDir() + "peal_profile_" + std::to_string(getpid()) + ".json";
    ProfileVariable variable_{path_};
};

}  // namespace peal::comm::test
