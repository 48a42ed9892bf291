// SPDX-License-Identifier: Apache-2.0
#include "base/cache_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "peal/error.hpp"
#include "support/temporary_cache.hpp"

namespace peal::base {
namespace cache_test {

namespace fs = std::filesystem;
using test::Variable;

std::string refusal() {
    try {
        cache_directory();
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::resource);
        return error.what();
    }
    return "no error";
}

TEST(CacheDirectory, IsMadeForTheUserAlone) {
    const TemporaryDirectory home;
    const Variable none("PEAL_CACHE", "");
    const Variable no_cache("XDG_CACHE_HOME", "");
    const Variable at_home("HOME", home.path().string());
    const fs::path made = cache_directory();
    EXPECT_EQ(made, fs::canonical(home.path()) / ".cache" / "peal");
    EXPECT_EQ(fs::status(made).permissions(), fs::perms::owner_all);
    const Variable elsewhere("XDG_CACHE_HOME", (home.path() / "xdg").string());
    EXPECT_EQ(cache_directory(), fs::canonical(home.path()) / "xdg" / "peal");
}

TEST(CacheDirectory, IsRefusedWhereOthersCanWrite) {
    const TemporaryDirectory home;
    const std::string place = fs::canonical(home.path()) / "cache";
    const Variable here("PEAL_CACHE", place);
    cache_directory();
    for (const mode_t mode : {0770, 0707, 0777}) {
        chmod(place.c_str(), mode);
        EXPECT_EQ(refusal(), place +
                                 " can be written by others: chmod go-w it or name another "
                                 "directory in PEAL_CACHE");
    }
    chmod(place.c_str(), 0700);
    EXPECT_EQ(refusal(), "no error");
    const Variable below("PEAL_CACHE", place + "/below");
    chmod(place.c_str(), 0777);
    EXPECT_EQ(refusal(), place + "/below is in " + place +
                             ", where others can replace it: name another directory in PEAL_CACHE");
    chmod(place.c_str(), 01777);
    EXPECT_EQ(refusal(), "no error") << "as in /tmp";
}

TEST(CacheDirectory, OfSomebodyElseIsRefused) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
    const TemporaryDirectory home;
    const std::string place = fs::canonical(home.path()) / "cache";
    fs::create_directory(place);
    ASSERT_EQ(chown(place.c_str(), 12345, 12345), 0);
    const Variable here("PEAL_CACHE", place);
    EXPECT_EQ(refusal(), place + " belongs to somebody else: name another directory in PEAL_CACHE");
    const Variable below("PEAL_CACHE", place + "/below");
    EXPECT_EQ(refusal(), place + "/below is in " + place +
                             ", where others can replace it: name another directory in PEAL_CACHE");
}

TEST(CacheDirectory, WithoutAHomeIsNowhere) {
    constexpr const char* kNoHome =
        "there is no place for a cache, HOME is not set to a directory of the user's own: name a "
        "directory in PEAL_CACHE";
    const Variable none("PEAL_CACHE", "");
    const Variable no_cache("XDG_CACHE_HOME", "");
    for (const char* home : {"relative", "/", "/."}) {
        const Variable no_home("HOME", home);
        EXPECT_EQ(home_directory(), "");
        EXPECT_EQ(refusal(), kNoHome) << home;
    }
    const Variable no_home("HOME", "");
    EXPECT_EQ(refusal(), kNoHome);
    testing::internal::CaptureStderr();
    const fs::path temporary = cache_or_temporary_directory();
    EXPECT_EQ(cache_or_temporary_directory(), temporary);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              fmt::format("peal: what is compiled is not kept: {}\n", kNoHome));
    EXPECT_EQ(fs::status(temporary).permissions(), fs::perms::owner_all);
}

}  // namespace cache_test
}  // namespace peal::base
