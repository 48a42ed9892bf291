// SPDX-License-Identifier: Apache-2.0
#include "pto/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "peal/watch.hpp"
#include "pto/channel.hpp"

namespace peal::pto {
namespace {

class Actions {
public:
    Actions() { posix_spawn_file_actions_init(&actions_); }
    ~Actions() { posix_spawn_file_actions_destroy(&actions_); }
    Actions(const Actions&) = delete;
    Actions& operator=(const Actions&) = delete;

    void duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_;
};

// What it says, until it has nothing more to say.
std::string listen(int descriptor) {
    std::string said;
    std::array<char, 4096> buffer;
    while (true) {
        if (Watch::is_set()) {
            pollfd wait{descriptor, POLLIN, 0};
            const int ready = poll(&wait, 1, static_cast<int>(Watch::kInterval.count()));
            Watch::look_up();
            if (ready <= 0) continue;
        }
        const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
        if (got == 0 || (got < 0 && errno != EINTR)) return said;
        if (got > 0) said.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

int status_of(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::string find_program(const std::string& name) {
    if (name.empty()) return {};
    if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
    const char* path = std::getenv("PATH");
    std::istringstream directories(path ? path : "/usr/local/bin:/usr/bin:/bin");
    for (std::string directory; std::getline(directories, directory, ':');) {
        std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
        if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return {};
}

ProgramEnd run_program(const std::vector<std::string>& arguments) {
    const std::string program = find_program(arguments.at(0));
    if (program.empty()) {
        throw Error(Fault::usage, fmt::format("there is no program '{}'", arguments[0]));
    }
    Channel channel;
    Actions actions;
    actions.duplicate(channel.writer.get(), STDOUT_FILENO);
    actions.duplicate(channel.writer.get(), STDERR_FILENO);
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_t child = 0;
    const int failure =
        posix_spawn(&child, program.c_str(), actions.get(), nullptr, argv.data(), environ);
    if (failure != 0) {
        throw Error(Fault::resource,
                    fmt::format("cannot start {}: {}", program, std::strerror(failure)));
    }
    channel.writer.reset();
    ProgramEnd end;
    try {
        end.output = listen(channel.reader.get());
    } catch (...) {
        kill(child, SIGTERM);  // a compiler ends its own children
        status_of(child);
        throw;
    }
    end.status = status_of(child);
    return end;
}

}  // namespace peal::pto
