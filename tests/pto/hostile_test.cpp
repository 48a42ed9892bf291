// SPDX-License-Identifier: Apache-2.0
// Kernels that work against the tracer. It is no sandbox, but it answers in time, in bounded
// memory, and leaves no process behind.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "pto/kernel_file.hpp"

namespace peal::pto {
namespace hostile_test {

constexpr const char* kSystem = R"(#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
)";
constexpr const char* kNoSense =
    "kernel.cpp, rank 0: what its process reports makes no sense: does the kernel write to "
    "descriptors that it has not opened?";

class PtoHostile : public testing::Test {
protected:
    std::string error(const std::string& body, int milliseconds = 60'000) const {
        const std::string path = folder_.write(
            "kernel.cpp", std::string(kSystem) + kKernelHead +
                              "extern \"C\" void kernel_entry(int64_t* args) {\n" + body + "\n}\n");
        TraceOptions options;
        options.timeout = std::chrono::milliseconds(milliseconds);
        return error_of(folder_, [&] { trace(Kernel::compile(path), {}, 1, options); });
    }
    // Writes to everything that is open behind stderr.
    static std::string for_each_descriptor(const std::string& what) {
        return "    signal(SIGPIPE, SIG_IGN);\n"
               "    for (int fd = 3; fd < 64; ++fd) { if (fcntl(fd, F_GETFD) >= 0) {" +
               what + "} }\n";
    }
    // The process whose number the kernel wrote down.
    pid_t noted() const {
        pid_t pid = 0;
        std::ifstream(folder_.path() / "pid") >> pid;
        return pid;
    }
    std::string note_pid() const {
        return fmt::format(
            R"(FILE* file = fopen("{}/pid", "w"); fprintf(file, "%d", getpid()); fclose(file);)",
            folder_.path().string());
    }

    KernelFolder folder_;
};

TEST_F(PtoHostile, ThatClosesDescriptorsAndPausesIsStopped) {
    EXPECT_EQ(
        error("    for (int fd = 3; fd < 256; ++fd) close(fd);\n    while (true) pause();", 200),
        "kernel.cpp, rank 0: the kernel does not return: it was stopped after 200 ms; it "
        "issued no instruction");
}

TEST_F(PtoHostile, ThatWritesIntoTheChannelIsTold) {
    // A recording of more instructions than there are bytes, of a file that is not there, of
    // nothing, and a crash without a place.
    EXPECT_EQ(error(for_each_descriptor("write(fd, \"R\\377\\377\\377\\377\\377\\0\\0\\0\", 9);") +
                    "    _exit(0);"),
              kNoSense);
    EXPECT_EQ(error(for_each_descriptor("write(fd, \"R\\1\\0\\0\\0\\0\\0\\0\\0\", 9);") +
                    "    _exit(0);"),
              kNoSense);
    EXPECT_EQ(error(for_each_descriptor("write(fd, \"R\", 1);") + "    _exit(0);"), kNoSense);
    EXPECT_EQ(error(for_each_descriptor("write(fd, \"C\", 1);") + "    _exit(0);"), kNoSense);
    EXPECT_EQ(error(for_each_descriptor("char all[700]; memset(all, 255, 700); all[0] = 'C'; "
                                        "write(fd, all, 441);") +
                    "    _exit(0);"),
              kNoSense);
    EXPECT_EQ(error(for_each_descriptor("char all[2000]; memset(all, 255, 2000); all[0] = 'R'; "
                                        "memset(all + 1, 0, 16); all[1] = 1; all[9] = 1; "
                                        "write(fd, all, 2000);") +
                    "    _exit(0);"),
              kNoSense);
    // Its own words come first, and then the tracer's.
    EXPECT_EQ(error(for_each_descriptor("write(fd, \"R\", 1);")), kNoSense);
}

TEST_F(PtoHostile, ThatWritesToOurFilesFindsNone) {
    const std::string path = (folder_.path() / "ours").string();
    const int ours = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ASSERT_GE(ours, 0);
    EXPECT_EQ(error(for_each_descriptor("write(fd, \"R\", 1);")), kNoSense);
    close(ours);
    EXPECT_EQ(std::filesystem::file_size(path), 0U);
}

TEST_F(PtoHostile, ThatFloodsTheChannelCostsLittle) {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    EXPECT_EQ(
        error(for_each_descriptor("static char much[1 << 16]; memset(much, 'W', sizeof much); "
                                  "while (write(fd, much, sizeof much) > 0) {}")),
        kNoSense);
    getrusage(RUSAGE_SELF, &after);
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 << 10) << "KiB";
}

// Its words end where the tracer's memory of them does.
TEST_F(PtoHostile, ThatLeavesAProcessInASessionOfItsOwnLeavesNone) {
    EXPECT_EQ(error("    int ready[2]; pipe(ready);\n"
                    "    if (fork() == 0) {\n"
                    "        setsid();\n"
                    "        if (fork() == 0) {\n            " +
                    note_pid() +
                    "\n            for (int fd = 3; fd < 256; ++fd) close(fd);\n"
                    "            while (true) pause();\n        }\n"
                    "        _exit(0);\n    }\n"
                    "    close(ready[1]);\n    char end; read(ready[0], &end, 1);"),
              "");
    ASSERT_GT(noted(), 0);
    EXPECT_EQ(kill(noted(), 0), -1);
    EXPECT_EQ(errno, ESRCH);
}

TEST_F(PtoHostile, ThatForksAndHangsLeavesNone) {
    EXPECT_EQ(error("    int ready[2]; pipe(ready);\n"
                    "    if (fork() == 0) {\n        setsid();\n        " +
                        note_pid() +
                        "\n        close(ready[1]);\n        close(ready[0]);\n        while "
                        "(true) pause();\n    }\n"
                        "    close(ready[1]);\n    char end; read(ready[0], &end, 1);\n"
                        "    while (true) pause();",
                    1000),
              "kernel.cpp, rank 0: the kernel does not return: it was stopped after 1000 ms; it "
              "issued no instruction");
    ASSERT_GT(noted(), 0);
    EXPECT_EQ(kill(noted(), 0), -1);
    EXPECT_EQ(errno, ESRCH);
}

TEST_F(PtoHostile, WhoseStartUpCodeDoesNotReturnIsStopped) {
    const std::string path = folder_.write(
        "kernel.cpp", std::string(kSystem) + kKernelHead +
                          "__attribute__((constructor)) void loop() { while (true) pause(); }\n"
                          "extern \"C\" void kernel_entry(int64_t*) {}\n");
    KernelOptions options;
    options.load_timeout = std::chrono::milliseconds(200);
    EXPECT_EQ(error_of(folder_, [&] { Kernel::compile(path, options); }),
              "kernel.cpp cannot be loaded: its start-up code does not return: it was stopped "
              "after 200 ms");
}

}  // namespace hostile_test
}  // namespace peal::pto
