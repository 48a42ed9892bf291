// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <string>

namespace peal::comm::test {

// $PEAL_PROFILE for the time of a test.
class ProfileVariable {
public:
    explicit ProfileVariable(const std::string& value) { setenv("PEAL_PROFILE", value.c_str(), 1); }
    ~ProfileVariable() { unsetenv("PEAL_PROFILE"); }
    ProfileVariable(const ProfileVariable&) = delete;
    ProfileVariable& operator=(const ProfileVariable&) = delete;
};

}  // namespace peal::comm::test
