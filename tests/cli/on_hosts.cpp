// SPDX-License-Identifier: Apache-2.0
#include "cli/on_hosts.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace peal::test {

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

std::string why_no_hosts() {
    constexpr int kNoNamespaces = 77;
    static const Ran ran = on_hosts({}, "true");
    return ran.exit_code == kNoNamespaces ? ran.err : "";
}

}  // namespace peal::test
