// SPDX-License-Identifier: Apache-2.0
// What docs/worker.md shows is true: its C++ and its kernels are part of examples/worker/, and its
// commands print what it says. Times are not compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cli/command.hpp"
#include "cli/document.hpp"
#include "support/patterns.hpp"
#include "worker/example.hpp"

namespace peal::test {
namespace worker_doc_test {

using worker::test::ExampleRun;
using worker::test::run_example;

// With one space for many as well: a comment may stand elsewhere on its line.
std::string code_of(const std::string& text) { return stripped(replaced(text, " +", " ")); }

std::string without_times(const std::string& text) {
    return replaced(text, " +[0-9]+\\.[0-9]", " <time>");
}

std::vector<Block> document() {
    return fenced_blocks(read_file(PEAL_SOURCE_DIR "/docs/worker.md"));
}

// What "./example ..." or "peal ..." prints.
std::string output_of(const std::vector<std::string>& words) {
    const std::vector<std::string> arguments(words.begin() + 1, words.end());
    if (words[0] == "peal") {
        const Ran ran = peal(arguments);
        return ran.out + ran.err;
    }
    const ExampleRun ran = run_example(words[0].substr(2), arguments);
    return ran.out + ran.err;
}

TEST(WorkerDocument, ItsCodeIsPartOfTheExamples) {
    std::vector<std::string> sources = sources_in(PEAL_SOURCE_DIR "/examples/worker");
    std::transform(sources.begin(), sources.end(), sources.begin(), code_of);
    int count = 0;
    for (const Block& block : document()) {
        if (block.tag != "cpp" && block.tag != "peal") continue;
        ++count;
        EXPECT_TRUE(std::any_of(sources.begin(), sources.end(), [&](const std::string& source) {
            return source.find(code_of(block.text)) != std::string::npos;
        })) << block.text;
    }
    EXPECT_GE(count, 15);
}

TEST(WorkerDocument, EveryCommandDoesWhatItSays) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP();  // it does not follow a process that was forked from one with threads
#endif
    int count = 0;
    for (const Block& block : document()) {
        if (block.tag != "console") continue;
        for (const Step& step : steps_of(block.text)) {
            ++count;
            EXPECT_EQ(without_times(output_of(step.words)), without_times(step.output))
                << ::testing::PrintToString(step.words);
        }
    }
    EXPECT_GE(count, 9);
    EXPECT_TRUE(std::filesystem::remove(PEAL_WORKER_EXAMPLES "/out.json"));
}

}  // namespace worker_doc_test
}  // namespace peal::test
