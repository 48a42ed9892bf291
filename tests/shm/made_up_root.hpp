// SPDX-License-Identifier: Apache-2.0
// A machine that a test makes up: a root directory with the files that it puts there.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace peal::shm {

class MadeUpRoot : public ::testing::Test {
protected:
    void SetUp() override {
        std::string path = (std::filesystem::temp_directory_path() / "peal-root-XXXXXX").string();
        ASSERT_NE(mkdtemp(path.data()), nullptr);
        root_ = path;
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }
    void siblings(const std::string& core, const std::string& list) const {
        write("sys/devices/system/cpu/cpu" + core + "/topology/thread_siblings_list", list);
    }

    std::filesystem::path root_;
};

}  // namespace peal::shm
