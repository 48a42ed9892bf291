// SPDX-License-Identifier: Apache-2.0
// fuzz_<target> SEED RUNS FILE_OR_DIRECTORY...
//
// Where there is no libFuzzer: gives the target each file, and then RUNS inputs that are made from
// them. The same seed gives the same inputs. An input that ends the process is left in
// fuzz-finding.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/target.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 1 << 16;
constexpr int kMostChanges = 6;
constexpr std::array kWords = {"0",
                               "-1",
                               "1e999",
                               "18446744073709551615",
                               "9223372036854775807",
                               "-9223372036854775808",
                               "null",
                               "true",
                               "[]",
                               "{}",
                               "\"\"",
                               "\xff",
                               "\n",
                               "(",
                               ")",
                               "{",
                               "}",
                               "nranks",
                               "rank",
                               "n",
                               "for",
                               "in",
                               "if",
                               "let",
                               "notify",
                               "wait",
                               "@",
                               "%",
                               "tile",
                               "4294967296"};

std::string current;  // the input that the target has

void leave_finding(int signal) {
    const int file = open("fuzz-finding", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    [[maybe_unused]] const ssize_t written = write(file, current.data(), current.size());
    ::signal(signal, SIG_DFL);
    raise(signal);
}

void give(std::string input) {
    current = std::move(input);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
}

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> inputs_in(const std::vector<std::string>& places) {
    std::vector<fs::path> files;
    for (const fs::path place : places) {
        if (!fs::is_directory(place)) {
            files.push_back(place);
            continue;
        }
        for (const auto& entry : fs::directory_iterator(place)) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<std::string> inputs;
    for (const fs::path& file : files) inputs.push_back(text_of(file));
    return inputs;
}

class Mutator {
public:
    Mutator(std::uint64_t seed, const std::vector<std::string>& inputs)
        : random_(seed), inputs_(inputs) {}

    std::string next() {
        std::string text = any();
        const std::size_t changes = 1 + below(kMostChanges);
        for (std::size_t i = 0; i < changes; ++i) change(text);
        if (text.size() > kMostBytes) text.resize(kMostBytes);
        return text;
    }

private:
    std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }
    const std::string& any() { return inputs_[below(inputs_.size())]; }

    void change(std::string& text) {
        const std::size_t at = below(text.size() + 1);
        const std::size_t length = below(std::min<std::size_t>(text.size() - at, 64) + 1);
        switch (below(6)) {
            case 0: text.erase(at, length); break;
            case 1: text.insert(at, kWords[below(kWords.size())]); break;
            case 2: text.replace(at, length, kWords[below(kWords.size())]); break;
            case 3: text.insert(at, text.substr(below(text.size()), length)); break;
            case 4: {
                const std::string& other = any();
                const std::size_t from = below(other.size() + 1);
                text.replace(at, length, other.substr(from, below(256)));
                break;
            }
            default:
                if (at < text.size()) text[at] = static_cast<char>(random_());
        }
    }

    std::mt19937_64 random_;
    const std::vector<std::string>& inputs_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: %s SEED RUNS FILE_OR_DIRECTORY...\n", argv[0]);
        return 2;
    }
    const std::uint64_t seed = std::strtoull(argv[1], nullptr, 10);
    const std::uint64_t runs = std::strtoull(argv[2], nullptr, 10);
    const std::vector<std::string> inputs = inputs_in({argv + 3, argv + argc});
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
        ::signal(signal, leave_finding);
    }
    for (const std::string& input : inputs) give(input);
    Mutator mutator(seed, inputs);
    for (std::uint64_t i = 0; i < runs; ++i) give(mutator.next());
    std::printf("seed %llu: %zu files and %llu inputs made from them\n",
                static_cast<unsigned long long>(seed), inputs.size(),
                static_cast<unsigned long long>(runs));
    return inputs.empty() ? 1 : 0;
}
