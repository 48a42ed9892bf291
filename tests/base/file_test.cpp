// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "peal/error.hpp"

namespace peal::base {
namespace file_test {

namespace fs = std::filesystem;

class WriteText : public testing::Test {
protected:
    fs::path at(const std::string& name) const { return directory_.path() / name; }
    static std::string text(const fs::path& path) { return read_text(path, 1 << 20); }
    static mode_t mode(const fs::path& path) {
        struct stat status {};
        return lstat(path.c_str(), &status) == 0 ? status.st_mode : 0;
    }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()));
    }
    static std::string failure(const fs::path& path, const std::string& text = "text") {
        try {
            write_text(path, text, "picture");
        } catch (const Error& error) {
            EXPECT_EQ(error.fault(), Fault::resource);
            return error.what();
        }
        return "no error";
    }

    TemporaryDirectory directory_;
};

TEST_F(WriteText, MakesAndReplacesAFileAndKeepsItsPermissions) {
    write_text(at("a"), "one", "file");
    EXPECT_EQ(text(at("a")), "one");
    chmod(at("a").c_str(), 0640);
    write_text(at("a"), "two", "file");
    EXPECT_EQ(text(at("a")), "two");
    EXPECT_EQ(mode(at("a")) & 0777, 0640u);
    EXPECT_EQ(files(), 1u);
}

TEST_F(WriteText, KeepsTheOwner) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    write_text(at("a"), "one", "file");
    ASSERT_EQ(chown(at("a").c_str(), 12345, 12346), 0);
    write_text(at("a"), "two", "file");
    struct stat status {};
    ASSERT_EQ(stat(at("a").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 12345u);
    EXPECT_EQ(status.st_gid, 12346u);
}

TEST_F(WriteText, FollowsLinks) {
    fs::create_directory(at("d"));
    fs::create_symlink("d/file", at("link"));
    fs::create_symlink("link", at("link2"));
    write_text(at("link2"), "new", "file");
    EXPECT_EQ(text(at("d/file")), "new");
    write_text(at("link2"), "newer", "file");
    EXPECT_EQ(text(at("d/file")), "newer");
    EXPECT_TRUE(fs::is_symlink(at("link")));
    EXPECT_TRUE(fs::is_symlink(at("link2")));
    fs::create_symlink("loop", at("loop"));
    EXPECT_EQ(failure(at("loop")), "cannot write the picture " + at("loop").string() +
                                       ": Too many levels of symbolic links");
}

TEST_F(WriteText, LeavesWhatIsNoFileInItsPlace) {
    write_text("/dev/null", "text", "file");
    EXPECT_TRUE(S_ISCHR(mode("/dev/null")));
    EXPECT_EQ(failure("/dev/full"), "cannot write the picture /dev/full: No space left on device");
    EXPECT_TRUE(S_ISCHR(mode("/dev/full")));
    fs::create_symlink("/dev/full", at("full"));
    EXPECT_EQ(failure(at("full")),
              "cannot write the picture " + at("full").string() + ": No space left on device");
    ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
    const int reader = open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK);
    write_text(at("pipe"), "hello", "file");
    char got[8] = {};
    EXPECT_EQ(read(reader, got, sizeof(got)), 5);
    EXPECT_STREQ(got, "hello");
    close(reader);
    EXPECT_TRUE(S_ISFIFO(mode(at("pipe"))));
    EXPECT_EQ(failure(directory_.path()),
              "cannot write the picture " + directory_.path().string() + ": Is a directory");
}

// As `-o /dev/stdout > file` says.
TEST_F(WriteText, WritesIntoAFileThatIsOpen) {
    const int open_file = open(at("a").c_str(), O_RDWR | O_CREAT, 0600);
    write_text("/proc/self/fd/" + std::to_string(open_file), "text", "file");
    char got[8] = {};
    EXPECT_EQ(read(open_file, got, sizeof(got)), 4) << "the file itself, not another of its name";
    close(open_file);
}

TEST_F(WriteText, LeavesTheOldFileAndNoHalfOneWhenTheDiskIsFull) {
    write_text(at("a"), "old", "file");
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit small{4096, 4096};
        setrlimit(RLIMIT_FSIZE, &small);
        const std::string told = failure(at("a"), std::string(10'000, 'x'));
        _exit(told == "cannot write the picture " + at("a").string() + ": File too large" ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(text(at("a")), "old");
    EXPECT_EQ(files(), 1u);
}

// Caches are cleared while others write into them.
TEST_F(WriteText, WritesWhatSomebodyRemovesMeanwhile) {
    std::atomic<bool> is_over = false;
    std::thread remover([&] {
        while (!is_over) unlink(at("a").c_str());
    });
    for (int i = 0; i < 2000; ++i) EXPECT_EQ(failure(at("a")), "no error");
    is_over = true;
    remover.join();
    EXPECT_EQ(failure(at("a")), "no error");
    EXPECT_EQ(text(at("a")), "text");
    EXPECT_EQ(files(), 1u);
}

TEST_F(WriteText, SaysWhereItCannot) {
    EXPECT_EQ(failure(at("no/file")),
              "cannot write the picture " + at("no/file").string() + ": No such file or directory");
    EXPECT_EQ(failure("/dev/null/file"),
              "cannot write the picture /dev/null/file: Not a directory");
    EXPECT_EQ(failure(""), "cannot write the picture : No such file or directory");
    const std::string longest(255, 'x');
    write_text(at(longest), "text", "file");
    EXPECT_EQ(text(at(longest)), "text");
}

TEST(ReadText, HasABound) {
    try {
        read_text("/dev/zero", 1000, "profile");
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::bound);
        EXPECT_STREQ(error.what(),
                     "cannot read the profile '/dev/zero': it has more than 1000 bytes, and more "
                     "is not read");
    }
    try {
        read_text("/", 1000);
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_STREQ(error.what(), "cannot read '/': Is a directory");
    }
}

// The file of a process that ends is open and cannot be read.
TEST(TextIfThere, IsEmptyWhenItCannotBeReadToItsEnd) {
    EXPECT_EQ(text_if_there("/proc/self/comm"), "test_base\n");
    EXPECT_EQ(text_if_there("/proc/self/no-such-file"), "");
    EXPECT_EQ(text_if_there("/"), "") << "it opens and cannot be read";
    EXPECT_EQ(text_if_there("/dev/zero"), "") << "it has no end";
}

TEST(TemporaryDirectory, IsTheUsersAloneAndGoes) {
    fs::path path;
    {
        const TemporaryDirectory directory;
        path = directory.path();
        EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
        std::ofstream(path / "file") << "text";
        const pid_t child = fork();
        if (child == 0) {
            directory.~TemporaryDirectory();
            _exit(0);
        }
        waitpid(child, nullptr, 0);
        EXPECT_TRUE(fs::exists(path / "file")) << "a child does not remove it";
    }
    EXPECT_FALSE(fs::exists(path));
}

}  // namespace file_test
}  // namespace peal::base
