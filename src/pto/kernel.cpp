// SPDX-License-Identifier: Apache-2.0
// Compiling kernels, once for each content.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/cache_directory.hpp"
#include "base/digest.hpp"
#include "base/file.hpp"
#include "peal/error.hpp"
#include "peal/pto.hpp"
#include "peal/pto_task.hpp"
#include "pto/embedded.hpp"
#include "pto/library.hpp"
#include "pto/program.hpp"

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

constexpr std::uint64_t kMostSourceBytes = std::uint64_t{256} << 20;  // with all it includes
constexpr std::uint64_t kMostLibraryBytes = std::uint64_t{1} << 30;
constexpr int kMostAttempts = 3;

void require_source(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
        throw Error(Fault::usage, fmt::format("there is no file '{}'", path));
    }
    if (!fs::is_regular_file(status) || euidaccess(path.c_str(), R_OK) != 0) {
        throw Error(Fault::usage, fmt::format("cannot read '{}'", path));
    }
}

// What is there if it is a file of ours; otherwise nothing.
std::string own_text(const fs::path& path, std::uint64_t most) {
    return base::is_own_file(path) ? base::read_text(path, most) : std::string();
}

// The headers are put into the cache under the name of their content.
fs::path unpacked_headers(const fs::path& cache) {
    base::Digest digest;
    for (const EmbeddedFile& file : embedded_headers()) digest.add(file.path).add(file.text);
    const fs::path place = cache / ("include-" + digest.text());
    for (const EmbeddedFile& file : embedded_headers()) {
        const fs::path header = place / file.path;
        base::make_private_directories(header.parent_path());
        for (fs::path above = header.parent_path(); above != cache; above = above.parent_path()) {
            base::require_private(above);
        }
        if (own_text(header, kMostSourceBytes) == file.text) continue;
        std::error_code ignored;
        fs::remove(header, ignored);
        base::write_text(header, file.text, "header");
    }
    return place;
}

// A file that goes away with the object.
class Draft {
public:
    explicit Draft(const fs::path& place) : path_(base::beside(place)) {}
    ~Draft() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

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

// The name of a library is made from all that the compiler reads, which the preprocessor tells:
// which headers it finds, and what is in them, is its own affair.
class Compilation {
public:
    Compilation(const std::string& path, const KernelOptions& options)
        : path_(path),
          source_(fs::absolute(path).lexically_normal()),
          compiler_(compiler_of(options)),
          cache_(base::cache_or_temporary_directory()) {
        command_ = {compiler_,
                    "-std=c++20",
                    "-w",
                    "-x",
                    "c++",
                    "-D__aicore__=",
                    "-D__DAV_VEC__",
                    "-I" + unpacked_headers(cache_).string()};
        for (const std::string& define : options.defines) command_.push_back("-D" + define);
        for (const std::string& directory : options.include_directories) {
            command_.push_back("-I" + fs::absolute(directory).string());
        }
    }

    // The library, made now or earlier.
    std::string library() const {
        std::string text = preprocessed();
        if (const fs::path found = find(text); !found.empty()) return found;
        for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
            const Draft draft(cache_ / "library");
            compile(draft.path());
            // Was it that text?
            const std::string after = preprocessed();
            if (after == text) return keep(draft.path(), text);
            text = after;
        }
        throw Error(Fault::resource,
                    fmt::format("{} or what it includes changes while it is compiled: wait until "
                                "it is written",
                                path_));
    }

private:
    std::string preprocessed() const {
        const Draft draft(cache_ / "text");
        run({"-E", source_.string(), "-o", draft.path().string()});
        return base::read_text(draft.path(), kMostSourceBytes);
    }

    void compile(const fs::path& library) const {
        run({"-O1", "-g1", "-fPIC", "-shared", "-Wl,--no-undefined", source_.string(), "-o",
             library.string()});
    }

    void run(const std::vector<std::string>& words) const {
        std::vector<std::string> command = command_;
        command.insert(command.end(), words.begin(), words.end());
        const ProgramEnd end = run_program(command);
        if (end.status == 0) return;
        throw Error(Fault::program,
                    fmt::format("{} does not compile with {}:\n{}", path_, compiler_,
                                end.output.empty() ? "(it says nothing)" : end.output));
    }

    // All that decides what the library does.
    std::string key(const std::string& text) const {
        base::Digest digest;
        for (const std::string& word : command_) digest.add(word);
        struct stat compiler {};
        if (stat(compiler_.c_str(), &compiler) == 0) {
            digest.add(fmt::format("{} {} {}", compiler.st_size, compiler.st_mtim.tv_sec,
                                   compiler.st_mtim.tv_nsec));
        }
        for (const char* name : {"COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH"}) {
            const char* value = std::getenv(name);
            digest.add(value ? value : "");
        }
        return digest.add(source_.string()).add(text).text();
    }

    // A short file by the name of the text has the name of the library, which is its content's.
    fs::path pointer(const std::string& text) const { return cache_ / (key(text) + ".library"); }
    fs::path place_for(const std::string& digest) const { return cache_ / (digest + ".so"); }

    fs::path find(const std::string& text) const {
        // The assembler's own includes are not in the text.
        if (text.find(".incbin") != std::string::npos) return {};
        const std::string digest = own_text(pointer(text), kMostSourceBytes);
        const fs::path place = place_for(digest);
        const bool is_whole =
            !digest.empty() &&
            base::Digest().add(own_text(place, kMostLibraryBytes)).text() == digest;
        return is_whole ? place : fs::path();
    }

    fs::path keep(const fs::path& library, const std::string& text) const {
        const std::string digest =
            base::Digest().add(base::read_text(library, kMostLibraryBytes)).text();
        const fs::path place = place_for(digest);
        fs::rename(library, place);
        base::write_text(pointer(text), digest, "name of a library");
        return place;
    }

    std::string path_;
    fs::path source_;
    std::string compiler_;
    fs::path cache_;
    std::vector<std::string> command_;
};

}  // namespace

Shim Shim::compile(const std::string& path, const KernelOptions& options) {
    require_source(path);
    Shim shim(path, Compilation(path, options).library());
    require_shim(path, shim.library(), options.load_timeout);
    return shim;
}

Kernel Kernel::compile(const std::string& path, const KernelOptions& options) {
    auto state = std::make_shared<State>();
    state->name = fs::path(path).stem();
    state->path = path;
    require_source(path);
    state->library = Compilation(path, options).library();
    require_entry(path, state->library, options.load_timeout);
    return Kernel(std::move(state));
}

}  // namespace peal::pto
