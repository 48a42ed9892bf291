// SPDX-License-Identifier: Apache-2.0
// Plans of other projects on the command line: what docs/foreign_plans.md shows, and what it only
// says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "cli/document.hpp"

namespace peal::test {
namespace foreign_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string& document() {
    static const std::string text = read_file(PEAL_SOURCE_DIR "/docs/foreign_plans.md");
    return text;
}

// A file that the document shows.
std::string shown(const std::string& name) {
    for (const Block& block : fenced_blocks(document())) {
        if (block.tag.ends_with(" " + name)) return block.text;
    }
    ADD_FAILURE() << name;
    return "";
}

TEST(ForeignDocument, EveryCommandDoesWhatItSays) {
    const Played played = play(document());
    EXPECT_EQ(played.files, 7);
    EXPECT_EQ(played.sessions, 9);
}

TEST(PealForeign, ADifferentOrderIsAViolationWhereTheSameBitsAreAskedFor) {
    const TemporaryFile file("pairs.xml", shown("pairs.xml"));
    const Ran told = peal({"check", file.path(), "--json"});
    EXPECT_EQ(told.exit_code, 0) << told.err;
    EXPECT_THAT(told.out, HasSubstr("    \"note\": \"right, but ranks 0 and 2 add in different "
                                    "orders: chunk 0: (0+1)+2 against (2+0)+1\"\n"));
    const Ran asked = peal({"check", file.path(), "--expect", "allreduce"});
    EXPECT_EQ(asked.exit_code, 1);
    EXPECT_THAT(asked.out, HasSubstr("is combined in another order than on rank 2"));
    // To integers it does not matter.
    const Ran integers = peal({"check", file.path(), "--dtype", "i32"});
    EXPECT_EQ(integers.exit_code, 0);
    EXPECT_THAT(integers.out, HasSubstr("  as allreduce, same bits  proved "));
}

TEST(PealForeign, PlansAreShown) {
    const TemporaryFile file("ring.xml", shown("ring.xml"));
    const Ran ran = peal({"show", file.path(), "--rank", "1"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, StartsWith("plan ring, rank 1 of 2: 12 instructions, "));
    EXPECT_THAT(ran.out, HasSubstr("\n   5  reduce sum f32 output[0..16) <- input[0..16), "
                                   "fifo[0..16)  line 12\n"));
    EXPECT_EQ(peal({"show", file.path(), "--ir"}).err,
              "peal: --ir, --lowered, --after and --passes are for programs; a file of another "
              "project has plans\n");
}

TEST(PealForeign, OptionsThatDoNotFit) {
    const TemporaryFile file("ring.xml", shown("ring.xml"));
    const auto error = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {"run", file.path()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Ran ran = peal(arguments);
        EXPECT_EQ(ran.exit_code, 2) << ran.out;
        return ran.err;
    };
    EXPECT_EQ(error({"-n", "3"}), "peal: -n 3: " + file.path() + " is for 2 GPUs\n");
    EXPECT_EQ(error({"--slots", "0"}), "peal: --slots: expected at least 1, found 0\n");
    EXPECT_EQ(error({"--count", "7"}),
              "peal: --count: expected a multiple of 2, which is how many chunks a rank has, found "
              "7\n");
    EXPECT_EQ(error({"--in-place"}),
              "peal: --in-place: " + file.path() + " is out of place only\n");
    EXPECT_EQ(error({"--window"}),
              "peal: --window is for collectives; a plan says itself where its data is\n");
    EXPECT_EQ(error({"--expect", "barrier"}),
              "peal: --expect: expected allreduce, allgather, reduce_scatter, all_to_all or "
              "broadcast for a plan of another project, found 'barrier'\n");
}

TEST(PealForeign, APictureIsDrawn) {
    const TemporaryFile file("never.xml", shown("never.xml"));
    const std::string picture = file.directory() + "/never.svg";
    EXPECT_EQ(peal({"check", file.path(), "--svg", picture}).exit_code, 1);
    EXPECT_THAT(read_file(picture), StartsWith("<svg"));
}

}  // namespace foreign_test
}  // namespace peal::test
