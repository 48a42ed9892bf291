// SPDX-License-Identifier: Apache-2.0
// Compiling kernels, once for each content.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/cache.hpp"
#include "base/digest.hpp"
#include "peal/error.hpp"
#include "peal/pto.hpp"
#include "pto/embedded.hpp"
#include "pto/program.hpp"
#include "pto/trace_child.hpp"

namespace peal::pto {

namespace fs = std::filesystem;

struct Kernel::State {
    std::string name, path, library;
};

Kernel::Kernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
const std::string& Kernel::name() const { return state_->name; }
const std::string& Kernel::path() const { return state_->path; }
const std::string& Kernel::library() const { return state_->library; }

namespace {

std::string contents_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string read_source(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
        throw Error(Fault::usage, fmt::format("there is no file '{}'", path));
    }
    std::ifstream file(path, std::ios::binary);
    if (!fs::is_regular_file(status) || !file) {
        throw Error(Fault::usage, fmt::format("cannot read '{}'", path));
    }
    return contents_of(path);
}

// The headers are put into the cache under the name of their content.
fs::path unpacked_headers(const fs::path& cache) {
    Digest digest;
    for (const EmbeddedFile& file : embedded_headers()) digest.add(file.path).add(file.text);
    const fs::path place = cache / ("include-" + digest.text());
    for (const EmbeddedFile& file : embedded_headers()) {
        const fs::path header = place / file.path;
        if (fs::exists(header)) continue;
        fs::create_directories(header.parent_path());
        publish(header, file.text);
    }
    return place;
}

std::string compiler_of(const KernelOptions& options) {
    const char* variable = std::getenv("CXX");
    const std::string wanted = !options.compiler.empty() ? options.compiler
                               : variable && *variable   ? variable
                                                         : "c++";
    const std::string found = find_program(wanted);
    if (found.empty()) {
        throw Error(
            Fault::usage,
            fmt::format("there is no compiler '{}': install g++ or clang, or name another one "
                        "with --cxx",
                        wanted));
    }
    return found;
}

class Compilation {
public:
    Compilation(const std::string& path, const KernelOptions& options)
        : path_(path),
          source_(fs::absolute(path).lexically_normal()),
          text_(read_source(path)),
          compiler_(compiler_of(options)),
          cache_(cache_directory()) {
        command_ = {compiler_,
                    "-std=c++20",
                    "-O1",
                    "-g",
                    "-fPIC",
                    "-shared",
                    "-w",
                    "-x",
                    "c++",
                    "-D__CPU_SIM",
                    "-I" + unpacked_headers(cache_).string()};
        for (const std::string& define : options.defines) command_.push_back("-D" + define);
        for (const std::string& directory : options.include_directories) {
            command_.push_back("-I" + fs::absolute(directory).string());
        }
        key_ = key();
    }

    // The library, made now or earlier.
    std::string library() const {
        if (const fs::path found = find(); !found.empty()) return found;
        return make();
    }

private:
    // All that is known before compiling; the files that it includes are known after.
    std::string key() const {
        Digest digest;
        for (const std::string& word : command_) digest.add(word);
        struct stat compiler {};
        if (stat(compiler_.c_str(), &compiler) == 0) {
            digest.add(fmt::format("{} {} {}", compiler.st_size, compiler.st_mtim.tv_sec,
                                   compiler.st_mtim.tv_nsec));
        }
        return digest.add(source_.string()).add(text_).text();
    }
    fs::path list_of_includes() const { return cache_ / (key_ + ".includes"); }

    fs::path place_for(const std::vector<std::string>& includes) const {
        Digest digest;
        digest.add(key_);
        for (const std::string& include : includes) digest.add(include).add(contents_of(include));
        return cache_ / (digest.text() + ".so");
    }

    fs::path find() const {
        std::ifstream list(list_of_includes());
        if (!list) return {};
        std::vector<std::string> includes;
        for (std::string line; std::getline(list, line);) includes.push_back(line);
        const fs::path place = place_for(includes);
        return fs::exists(place) ? place : fs::path();
    }

    std::string make() const {
        const fs::path draft = beside(cache_ / key_);
        const fs::path rule = beside(cache_ / key_);
        const auto discard = [&] {
            std::error_code ignored;
            fs::remove(draft, ignored);
            fs::remove(rule, ignored);
        };
        try {
            compile(draft, rule);
            const std::vector<std::string> includes = includes_from(contents_of(rule));
            const fs::path place = place_for(includes);
            std::string list;
            for (const std::string& include : includes) list += include + "\n";
            fs::rename(draft, place);
            publish(list_of_includes(), list);
            discard();
            return place;
        } catch (...) {
            discard();
            throw;
        }
    }

    void compile(const fs::path& library, const fs::path& rule) const {
        std::vector<std::string> command = command_;
        for (const std::string& word :
             {std::string("-Wl,--no-undefined"), std::string("-MMD"), std::string("-MF"),
              rule.string(), source_.string(), std::string("-o"), library.string()}) {
            command.push_back(word);
        }
        const ProgramEnd end = run_program(command);
        if (end.status == 0) return;
        throw Error(Fault::program,
                    fmt::format("{} does not compile with {}:\n{}", path_, compiler_,
                                end.output.empty() ? "(it says nothing)" : end.output));
    }

    // "target: source a.hpp \<newline> b.hpp": what comes after the source.
    std::vector<std::string> includes_from(const std::string& rule) const {
        std::vector<std::string> files;
        std::string file;
        const auto end_file = [&] {
            if (!file.empty()) files.push_back(std::exchange(file, {}));
        };
        for (std::size_t i = std::min(rule.find(": "), rule.size()) + 1; i < rule.size(); ++i) {
            const char next = i + 1 < rule.size() ? rule[i + 1] : '\0';
            if (rule[i] == '\\' && next == '\n') continue;
            if (rule[i] == '\\' && next == ' ')
                file += rule[++i];
            else if (rule[i] == ' ' || rule[i] == '\n')
                end_file();
            else
                file += rule[i];
        }
        end_file();
        std::erase(files, source_.string());
        return files;
    }

    std::string path_;
    fs::path source_;
    std::string text_, compiler_;
    fs::path cache_;
    std::vector<std::string> command_;
    std::string key_;
};

}  // namespace

Kernel Kernel::compile(const std::string& path, const KernelOptions& options) {
    auto state = std::make_shared<State>();
    state->name = fs::path(path).stem();
    state->path = path;
    state->library = Compilation(path, options).library();
    require_entry(path, state->library);
    return Kernel(std::move(state));
}

}  // namespace peal::pto
