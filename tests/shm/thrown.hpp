// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "peal/error.hpp"

namespace peal::shm::test {

// The message of the Error that `act` throws, whose fault is as expected.
template <class Act>
std::string message_of(Fault fault, Act&& act) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), fault);
        return error.what();
    }
    return "nothing was thrown";
}

}  // namespace peal::shm::test
