// SPDX-License-Identifier: Apache-2.0
#include "cli/start_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "peal/error.hpp"

namespace peal::cli {

DescriptorLimit::DescriptorLimit() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit all = before_;
    all.rlim_cur = all.rlim_max;
    setrlimit(RLIMIT_NOFILE, &all);
}

void DescriptorLimit::restore() const { setrlimit(RLIMIT_NOFILE, &before_); }

ExecReport::ExecReport() {
    if (pipe2(ends_, O_CLOEXEC) != 0) {
        throw Error(Fault::resource, fmt::format("launch: {}", std::strerror(errno)));
    }
}

ExecReport::~ExecReport() {
    close(ends_[0]);
    close(ends_[1]);
}

void ExecReport::tell(int error) const {
    [[maybe_unused]] const ssize_t told = write(ends_[1], &error, sizeof error);
}

int ExecReport::first_error() {
    close(std::exchange(ends_[1], -1));
    int error = 0;
    while (read(ends_[0], &error, sizeof error) < 0 && errno == EINTR) {
    }
    return error;
}

void close_input() {
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing > STDIN_FILENO) {
        dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
}

int run_program(const std::vector<std::string>& program) {
    std::vector<char*> argv;
    for (const std::string& argument : program) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    return errno;
}

}  // namespace peal::cli
