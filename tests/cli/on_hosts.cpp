// SPDX-License-Identifier: Apache-2.0
#include "cli/on_hosts.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

namespace peal::test {
namespace {

bool is_missing(const std::string& package) {
    return std::string_view(PEAL_HOSTS_MISSING).find(package) != std::string_view::npos;
}

std::string without(const std::string& package) {
    return fmt::format("this build cannot do it: the package {} was not there", package);
}

}  // namespace

Ran on_hosts(const std::vector<std::string>& names, const std::string& shell) {
    const TemporaryFile out("out", ""), err("err", "");
    const std::string script = PEAL_SOURCE_DIR "/tools/with-hosts";
    const std::string line = "peal='" PEAL_BINARY "'; " + shell;
    std::vector<std::string> words = {script};
    words.insert(words.end(), names.begin(), names.end());
    words.insert(words.end(), {"--", "sh", "-c", line});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
        dup2(open(out.path().c_str(), O_WRONLY), STDOUT_FILENO);
        dup2(open(err.path().c_str(), O_WRONLY), STDERR_FILENO);
        if (chdir(PEAL_SOURCE_DIR) == 0) execv(argv[0], argv.data());
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out.path()),
            read_file(err.path())};
}

// Machines are one process each, and the script that made them has two; the shell is one more.
// /proc/net is that of whoever reads it. There, 01 is a connection that is established and 0A one
// that listens; local sockets that listen have the flag 00010000.
std::string what_is_left_on(const std::vector<std::string>& names) {
    std::string line =
        "for process in /proc/[0-9]*; do "
        "  name=$(cat $process/comm 2>/dev/null) && "
        "  case $name in sleep|sh|with-hosts|unshare|cat) ;; *) echo left: $name >&2;; esac; "
        "  case $(tr \"\\0\" \" \" <$process/cmdline 2>/dev/null) in "
        "    \"sleep 1000 \") echo left: sleep >&2;; esac; "
        "done; ";
    for (const std::string& name : names) {
        line += fmt::format(
            "enter-host {} '"
            "for file in /dev/shm/*; do test ! -e $file || echo left: $file; done; "
            "sed 1d /proc/sysvipc/shm | sed \"s/.*/left: segment &/\"; "
            "cat /proc/self/net/tcp /proc/self/net/tcp6 | while read -r n own far state rest; do "
            "  case $state in 01|0A) echo left: socket $own $far;; esac; done; "
            "while read -r n users protocol flags rest; do "
            "  test $flags != 00010000 || echo left: socket $rest; done </proc/self/net/unix' "
            ">&2; ",
            name);
    }
    return line;
}

std::string why_no_hosts() {
    constexpr int kNoNamespaces = 77;
    for (const std::string needed : {"libucx-dev", "libsodium-dev"}) {
        if (is_missing(needed)) return without(needed);
    }
    static const Ran ran = on_hosts({}, "true");
    return ran.exit_code == kNoNamespaces ? ran.err : "";
}

std::string why_no_mpirun() {
    if (is_missing("libpmix-dev")) return without("libpmix-dev");
    static const bool is_there =
        std::system("command -v mpirun >/dev/null && mpirun --version | grep -q 'Open MPI'") == 0;
    return is_there ? "" : "there is no mpirun of Open MPI here; the package openmpi-bin brings it";
}

}  // namespace peal::test
