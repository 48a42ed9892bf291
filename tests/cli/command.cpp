// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace peal::test {
namespace {

[[noreturn]] void become_peal(const std::vector<std::string>& arguments,
                              const std::string& directory, const std::string& out,
                              const std::string& err) {
    std::vector<char*> argv = {const_cast<char*>("peal")};
    for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const int out_file = out.empty() ? -1 : open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out_file >= 0) dup2(out_file, STDOUT_FILENO);
    if (out_file < 0) close(STDOUT_FILENO);
    dup2(err_file, STDERR_FILENO);
    if (chdir(directory.c_str()) == 0) execv(PEAL_BINARY, argv.data());
    _exit(127);
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& name, const std::string& text) {
    std::string pattern = (std::filesystem::temp_directory_path() / "peal-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
    path_ = directory_ + "/" + name;
    std::ofstream(path_) << text;
}

TemporaryFile::~TemporaryFile() { std::filesystem::remove_all(directory_); }

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

namespace {

Ran ran_into(const std::string& out, const std::vector<std::string>& arguments,
             const std::string& directory) {
    const TemporaryFile err("err", "");
    const pid_t child = fork();
    if (child == 0) become_peal(arguments, directory, out, err.path());
    int status = 0;
    waitpid(child, &status, 0);
    Ran ran;
    ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ran.err = read_file(err.path());
    return ran;
}

}  // namespace

Ran peal(const std::vector<std::string>& arguments, const std::string& directory) {
    const TemporaryFile out("out", "");
    Ran ran = ran_into(out.path(), arguments, directory);
    ran.out = read_file(out.path());
    return ran;
}

Ran peal_into(const std::string& out, const std::vector<std::string>& arguments) {
    return ran_into(out, arguments, PEAL_SOURCE_DIR);
}

}  // namespace peal::test
