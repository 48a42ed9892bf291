// SPDX-License-Identifier: Apache-2.0
// Runs a program of examples/worker/ as a person would.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

namespace peal::worker::test {

struct ExampleRun {
    int exit_code = -1;
    std::string out, err;
};

// An open file without a name: it goes away with the process.
class Captured {
public:
    Captured() : file_(std::tmpfile()) {}
    ~Captured() { std::fclose(file_); }
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;

    void take(int descriptor) const { dup2(fileno(file_), descriptor); }
    std::string text() const {
        std::rewind(file_);
        std::string all;
        for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) {
            all += static_cast<char>(c);
        }
        return all;
    }

private:
    std::FILE* file_;
};

inline ExampleRun run_example(const std::string& name, const std::vector<std::string>& arguments) {
    const std::string program = "./" + name;
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) {
        argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);

    const Captured out, err;
    const pid_t child = fork();
    if (child == 0) {
        out.take(STDOUT_FILENO);
        err.take(STDERR_FILENO);
        if (chdir(PEAL_WORKER_EXAMPLES) == 0) execv(program.c_str(), argv.data());
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out.text(),
            err.text()};
}

}  // namespace peal::worker::test
