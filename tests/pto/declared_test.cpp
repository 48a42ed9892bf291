// SPDX-License-Identifier: Apache-2.0
// What the source of a kernel says of itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pto/kernel_file.hpp"

namespace peal::pto {
namespace declared_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PtoDeclared, IsReadLineByLine) {
    const KernelFolder folder;
    const std::string path = folder.write("kernel.cpp",
                                          "// A kernel.\n"
                                          "// peal: --arg in:f32[n]   args[0] what is added up\n"
                                          "  // peal: --arg\tnranks\n"
                                          "// peal: --as allreduce\n"
                                          "// peal: --op max\n"
                                          "// peal: --device a5\n"
                                          "// peal: --set m=3 unless said\n"
                                          "int x;  // peal: --arg is no line of its own\n");
    const Declared declared = declared_in(path);
    EXPECT_THAT(declared.arguments, ElementsAre("in:f32[n]", "nranks"));
    EXPECT_EQ(declared.as, "allreduce");
    EXPECT_EQ(declared.op, "max");
    EXPECT_EQ(declared.device, "a5");
    EXPECT_THAT(declared.settings, ElementsAre("m=3"));
    EXPECT_THAT(declared_in(folder.write("plain.cpp", "// peal is a bell\n")).arguments, IsEmpty());
}

TEST(PtoDeclared, RefusesOtherLines) {
    const KernelFolder folder;
    const auto complaint = [&](const std::string& line) {
        const std::string path = folder.write("kernel.cpp", "\n" + line + "\n");
        return error_of(folder, [&] { declared_in(path); });
    };
    EXPECT_EQ(
        complaint("// peal: in:f32[n]"),
        "kernel.cpp:2: '// peal:' expects --arg, --as, --device, --op or --set, found 'in:f32[n]'");
    EXPECT_EQ(
        complaint("// peal: "),
        "kernel.cpp:2: '// peal:' expects --arg, --as, --device, --op or --set, found the end");
    EXPECT_EQ(complaint("// peal: --arg"),
              "kernel.cpp:2: '// peal:' expects a value behind --arg, found the end");
    EXPECT_EQ(complaint("// peal: --as allreduce\n// peal: --as reduce"),
              "kernel.cpp:3: '// peal:' expects one --as, not a second, found 'reduce'");
}

TEST(PtoDeclared, WhatIsWrittenIsRead) {
    const KernelFolder folder;
    const std::string path =
        folder.write("kernel.cpp", declaration("--arg", "window:f32[n]+signals:Px16", "args[0] x") +
                                       "\n" + declaration("--arg", "nranks", "") + "\n");
    EXPECT_THAT(declared_in(path).arguments, ElementsAre("window:f32[n]+signals:Px16", "nranks"));
}

}  // namespace declared_test
}  // namespace peal::pto
