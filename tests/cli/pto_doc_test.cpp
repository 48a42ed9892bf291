// SPDX-License-Identifier: Apache-2.0
// What docs/pto.md shows is true: its commands print what it says, and its C++ is part of the
// kernel that it speaks of. Times and counts of events are not compared.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/command.hpp"
#include "cli/document.hpp"
#include "support/patterns.hpp"

namespace peal::test {
namespace pto_doc_test {

// What a check costs differs from run to run and with the emitter, and so do its columns' widths.
std::string without_cost(const std::string& text) {
    const std::string cost("([0-9]+ events|work) +([0-9.]+ (us|ms|s)\\b|time)");
    const std::string checked = replaced(text, cost, "<cost>");
    return replaced(checked, "[0-9]+(\\.[0-9]+)? (us|ms|s)\\b", "<time>");
}

std::vector<Block> document() { return fenced_blocks(read_file(PEAL_SOURCE_DIR "/docs/pto.md")); }

// Where commands may write files, next to the kernels that the page speaks of.
class Workplace {
public:
    Workplace() {
        for (const std::string name : {"examples", "tests"}) {
            std::filesystem::create_directory_symlink(PEAL_SOURCE_DIR "/" + name,
                                                      directory() + "/" + name);
        }
    }
    const std::string& directory() const { return place_.directory(); }

private:
    TemporaryFile place_{"placeholder", ""};
};

TEST(PtoDocument, EveryCommandDoesWhatItSays) {
    const Workplace here;
    int count = 0;
    for (const Block& block : document()) {
        if (block.tag != "console") continue;
        for (const Step& step : steps_of(block.text)) {
            ++count;
            ASSERT_EQ(step.words.front(), "peal");
            const Ran ran = peal({step.words.begin() + 1, step.words.end()}, here.directory());
            EXPECT_EQ(without_cost(ran.out + ran.err), without_cost(step.output))
                << ::testing::PrintToString(step.words);
        }
    }
    EXPECT_GE(count, 6);
}

TEST(PtoDocument, ItsDeclarationsAreWritten) {
    const Ran ran = peal({"emit", "examples/mesh_allreduce.peal", "--expect", "allreduce"});
    int count = 0;
    for (const Block& block : document()) {
        if (!block.text.starts_with("// peal:")) continue;
        ++count;
        EXPECT_NE(ran.out.find(block.text), std::string::npos) << ran.out;
    }
    EXPECT_EQ(count, 1);
}

TEST(PtoDocument, ItsCodeIsPartOfTheKernel) {
    const std::string kernel =
        read_file(PEAL_SOURCE_DIR "/tests/museum/pto/no_barrier_before_notify.cpp");
    int count = 0;
    for (const Block& block : document()) {
        if (block.tag != "cpp") continue;
        ++count;
        EXPECT_NE(kernel.find(block.text), std::string::npos) << block.text;
    }
    EXPECT_EQ(count, 1);
}

}  // namespace pto_doc_test
}  // namespace peal::test
