// SPDX-License-Identifier: Apache-2.0
#include "shm/launcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>

#include "peal/error.hpp"

namespace peal::shm {
namespace {

// Not among the standard streams, should one of those be closed: a launcher redirects them.
void move_away(int& descriptor) {
    constexpr int kFirst = 3;
    const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, kFirst);
    if (moved >= 0) close(std::exchange(descriptor, moved));
}

bool is_pipe(int descriptor) {
    struct stat status = {};
    return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

}  // namespace

Lifeline::Lifeline() {
    if (pipe2(ends_, O_CLOEXEC) != 0) {
        throw Error(Fault::resource,
                    fmt::format("cannot make a pipe for the ranks: {}", std::strerror(errno)));
    }
    for (int& end : ends_) move_away(end);
}

Lifeline::~Lifeline() {
    close(ends_[0]);
    close(ends_[1]);
}

// A pipe that was opened anew is this process's own: whom it signals is not shared with the others
// that inherited it.
void hold_on_to(int descriptor) {
    if (!is_pipe(descriptor)) return;
    const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
    const int own = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    close(descriptor);
    if (own < 0) return;
    fcntl(own, F_SETSIG, SIGKILL);
    fcntl(own, F_SETOWN, getpid());
    fcntl(own, F_SETFL, O_ASYNC | O_NONBLOCK);
    char byte = 0;
    if (read(own, &byte, 1) == 0) raise(SIGKILL);  // it was gone before the lines above
}

}  // namespace peal::shm
