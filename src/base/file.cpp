// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::base {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as the system follows

// The functions that write return 0 or an error number.

int put(int descriptor, std::string_view text) {
    int error = 0;
    while (error == 0 && !text.empty()) {
        const ssize_t done = ::write(descriptor, text.data(), text.size());
        if (done >= 0) {
            text.remove_prefix(static_cast<std::size_t>(done));
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    // Some file systems find out only now that the disk is full.
    const int closed = ::close(descriptor) == 0 || errno == EINTR ? 0 : errno;
    return error != 0 ? error : closed;
}

int write_in_place(const fs::path& path, std::string_view text) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
    return descriptor < 0 ? errno : put(descriptor, text);
}

// `before` is what the file replaces; null if it is new.
int write_beside(const fs::path& place, const struct stat* before, std::string_view text) {
    constexpr mode_t kFresh = 0666, kMine = 0600, kAll = 07777;
    const fs::path draft = beside(place);
    const int descriptor =
        open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, before ? kMine : kFresh);
    if (descriptor < 0) return errno;
    const bool is_kept = !before || (fchown(descriptor, before->st_uid, before->st_gid) == 0 &&
                                     fchmod(descriptor, before->st_mode & kAll) == 0);
    int error = put(descriptor, is_kept ? text : std::string_view());
    // What we may not give away stays where it is.
    if (error == 0 && !is_kept) error = write_in_place(place, text);
    if (error == 0 && is_kept && std::rename(draft.c_str(), place.c_str()) != 0) error = errno;
    if (error != 0 || !is_kept) unlink(draft.c_str());
    return error;
}

// A name in /proc stands for a file that is open, whatever its text says.
bool is_open_file(const fs::path& link) {
    struct statfs system {};
    const fs::path parent = link.parent_path();
    return statfs(parent.empty() ? "." : parent.c_str(), &system) == 0 &&
           system.f_type == PROC_SUPER_MAGIC;
}

// Where the links lead, whether or not something is there; empty if that is an open file.
fs::path end_of_links(fs::path path) {
    for (int i = 0; i < kMostLinks; ++i) {
        std::error_code error;
        const fs::path next = fs::read_symlink(path, error);
        if (error) return path;
        if (is_open_file(path)) return {};
        path = path.parent_path() / next;
    }
    return path;
}

int write_where_it_leads(const fs::path& path, std::string_view text) {
    struct stat before {};
    bool is_there = stat(path.c_str(), &before) == 0;
    if (!is_there && errno != ENOENT) return errno;
    const fs::path place = end_of_links(path);
    if (is_there && (!S_ISREG(before.st_mode) || place.empty())) return write_in_place(path, text);
    if (is_there && euidaccess(path.c_str(), W_OK) != 0) {
        if (errno != ENOENT) return errno;
        is_there = false;  // somebody has just removed it
    }
    return write_beside(place, is_there ? &before : nullptr, text);
}

std::string named(std::string_view what) {
    return what.empty() ? std::string() : fmt::format("the {} ", what);
}

[[noreturn]] void refuse_read(const fs::path& path, std::string_view what, int error) {
    throw Error(Fault::usage, fmt::format("cannot read {}'{}': {}", named(what), path.string(),
                                          std::strerror(error)));
}

}  // namespace

std::string read_text(const fs::path& path, std::uint64_t most, std::string_view what) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) refuse_read(path, what, errno);
    std::string text;
    std::array<char, 1 << 16> buffer;
    ssize_t got = 0;
    do {
        got = ::read(descriptor, buffer.data(), buffer.size());
        if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
    } while ((got > 0 && text.size() <= most) || (got < 0 && errno == EINTR));
    const int error = errno;
    ::close(descriptor);
    if (got < 0) refuse_read(path, what, error);
    if (text.size() <= most) return text;
    throw Error(Fault::bound,
                fmt::format("cannot read {}'{}': it has more than {} bytes, and more is not read",
                            named(what), path.string(), most));
}

std::string text_if_there(const fs::path& path) {
    constexpr std::uint64_t kMost = 1 << 16;
    try {
        return read_text(path, kMost);
    } catch (const Error&) {
        return "";
    }
}

void write_text(const fs::path& path, std::string_view text, std::string_view what) {
    const int error = write_where_it_leads(path, text);
    if (error == 0) return;
    throw Error(Fault::resource, fmt::format("cannot write {}{}: {}", named(what), path.string(),
                                             std::strerror(error)));
}

fs::path beside(const fs::path& place) {
    std::random_device random;
    const std::uint64_t number = (std::uint64_t{random()} << 32) | random();
    return place.parent_path() / fmt::format(".peal-{:016x}", number);
}

void make_private_directories(const fs::path& directory) {
    if (mkdir(directory.c_str(), S_IRWXU) == 0 || errno != ENOENT) return;
    const fs::path parent = directory.parent_path();
    if (parent.empty() || parent == directory) return;
    make_private_directories(parent);
    mkdir(directory.c_str(), S_IRWXU);
}

TemporaryDirectory::TemporaryDirectory() : owner_(getpid()) {
    const char* variable = std::getenv("TMPDIR");
    std::string pattern = fmt::format("{}/peal-XXXXXX", variable && *variable ? variable : "/tmp");
    if (!mkdtemp(pattern.data())) {
        throw Error(Fault::resource, fmt::format("no temporary directory {}: {}: name another "
                                                 "place in TMPDIR",
                                                 pattern, std::strerror(errno)));
    }
    path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    if (getpid() == owner_) fs::remove_all(path_, ignored);
}

}  // namespace peal::base
